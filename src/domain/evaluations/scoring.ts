import type { Json, JsonObject } from '../../kernel/json/json.js'

/** The input of a scorer. */
export interface ScorableRow {
  /** The example, with its reference resolved; its fields are the columns of the dataset. */
  readonly example: JsonObject
  readonly output: Json
}

/** What became of one scorer on one row. A failure makes the score null and is kept as the exception of its call. */
export type Scored = { readonly value: Json } | ScorerFailure

export interface ScorerFailure {
  readonly failed: string
  /** The scorer could not be reached or was overloaded, whatever the row; absent where the row is the reason. */
  readonly isUnavailable?: boolean
}

/** Where a row is scored, and on behalf of which user. */
export interface ScoreContext {
  readonly projectId: string
  /** The evaluation run, or the rule of an online evaluation. */
  readonly runId: string
  /** The row's call. */
  readonly rowId: string
  /** The scorer's own call, the same when the row is scored again after a crash; usage is attributed to it. */
  readonly scoreId: string
  readonly traceId: string
  /** The scorer may have been asked for this row before, and its answer was lost. */
  readonly mayBeRepeat: boolean
  readonly userId: string
  readonly keyId: string
  /** Aborts at the row's deadline, or when the run is cancelled. */
  readonly signal: AbortSignal
}

/** Applies one scorer to one row. Never rejects. */
export type ScoreRow = (row: ScorableRow, context: ScoreContext) => Promise<Scored>

/** Scores one output. `target` is undefined where the scorer does not take one. */
export type Rule = (output: Json, target: Json | undefined) => Scored

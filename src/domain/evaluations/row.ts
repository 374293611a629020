import type { Instant } from '../../kernel/codec/instant.js'
import type { Json } from '../../kernel/json/json.js'

/**
 * One row of an evaluation run: an example, the model's answer, and its scores. Runs that an SDK
 * logs as calls, runs of the v2 endpoints and runs of this service have the same rows.
 */
export interface EvaluationRow {
  /** The call of the row: `predict_and_score`, or the prediction where there is no such call. */
  readonly id: string
  /** The call of the model; null where none was recorded. */
  readonly predictionId: string | null
  /** As recorded: the value itself, or a reference to a row of a dataset. */
  readonly example: Json
  /** The row digest in the reference, else the digest of the value. Equal examples of two runs have the same. */
  readonly exampleDigest: string
  readonly output: Json
  /** The scores by the name of the scorer; null where the scorer failed. */
  readonly scores: Readonly<Record<string, Json>>
  /** The call of each scorer, by its name. */
  readonly scoreIds: Readonly<Record<string, string>>
  readonly exception: string | null
  readonly startedAt: Instant
  /** Null while the row is not finished. */
  readonly endedAt: Instant | null
  /** Seconds that the model took. */
  readonly modelLatency: number | null
  /** Tokens of the row's model call and its descendants; null where none were reported. */
  readonly totalTokens: number | null
}

/** The part of a row that comparisons read, with its cost in US dollars; null where it is not known. */
export interface ScoredRow extends Pick<EvaluationRow, 'id' | 'exampleDigest' | 'scores' | 'modelLatency'> {
  readonly cost: number | null
}

import type { Directory } from '../../domain/access/directory.js'
import type { BuiltInScorer } from '../../domain/evaluations/scorers/scorer.js'
import type { ScorableRow, ScoreContext, Scored } from '../../domain/evaluations/scoring.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { ClickHouse } from '../../kernel/ports/clickhouse.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { SecretStore } from '../../kernel/ports/secret-store.js'
import type { ReadableProjection, Reading } from '../reading/reading.js'
import type { Services } from '../services.js'

/** The services that work on evaluation runs and rules. Each function takes a `Pick` of the ones it uses. */
export interface EvaluationServices extends Pick<
  Services,
  keyof Ports | 'throttle' | 'webhookSender' | 'hmacSha256' | 'scoringTools' | 'vendor'
> {
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly clickHouse: Pick<ClickHouse, 'reader'>
  readonly readModels: Pick<ReadableProjection, 'reached' | 'waitFor'>
  readonly secrets: Pick<SecretStore, 'get'>
  readonly directory: () => Directory
  readonly scoreBuiltIn: ScoreBuiltIn
  /** Undefined in a process without the role `api`. */
  readonly reading: Pick<Reading, 'ackPosition'> | undefined
  /** Undefined in a process without the role `api`. */
  readonly askModel: AskModel | undefined
}

/** Applies a built-in scorer outside of the event loop. */
export type ScoreBuiltIn = (scorer: BuiltInScorer) => (row: ScorableRow) => Promise<Scored>

/** Asks a model through the service's own gateway. */
export type AskModel = (request: JsonObject, context: ScoreContext) => Promise<ModelAnswer>

export type ModelAnswer =
  | { readonly completion: JsonObject }
  | {
      readonly failed: string
      readonly isRetryable: boolean
      readonly isUnknownModel: boolean
      /** When a rate limit has room again; null for other failures. */
      readonly retryAfterMs: number | null
    }

/** The run cannot succeed, however often it is tried. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed'
}

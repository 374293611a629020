import type { EvaluationRunFinished } from '../../../evaluations/evaluation-run.js'
import type { Json, JsonObject } from '../../../../kernel/json/json.js'
import type { Position } from '../../../../kernel/ports/event-store.js'
import type { ChargedCall } from '../../../calls/call-cost.js'
import type { EventType } from '../events.js'

/** Fields of every trigger. */
interface Common {
  readonly eventId: string
  readonly stream: string
  readonly revision: bigint
  readonly position: Position
  /** When the log recorded the event. */
  readonly at: Date
  readonly team: string
  /** The event's actor: `${event_author}`. */
  readonly author: string
  /**
   * The number of deliveries between the original event and this one; null if the stream's `DeliveryScheduled` has
   * it.
   */
  readonly depth: number | null
  /** The condition types that this trigger can meet. */
  readonly types: readonly EventType[]
}

/** The version of an artifact that changed, from its creation event. */
export interface VersionInfo {
  readonly version: number
  readonly artifact_id: string
  readonly metadata: JsonObject
}

export interface ArtifactTrigger extends Common {
  readonly kind: 'artifact'
  /** Exactly one of `project_id` and `registry` is set. */
  readonly project_id: string | null
  readonly registry: string | null
  readonly collection: string
  readonly version: number
  /** The added alias, else null; likewise `tag`. */
  readonly alias: string | null
  readonly tag: string | null
  /** Null if an earlier event of the stream has it, see `version-shown.ts`. */
  readonly shown: VersionInfo | null
}

/** A killed run triggers nothing: no condition can name that state. */
export type RunState = 'RUNNING' | 'FINISHED' | 'FAILED' | 'KILLED'

export interface RunTrigger extends Common {
  readonly kind: 'run'
  readonly project_id: string
  readonly run_id: string
  readonly name: string
  readonly user: string
  /** Null for logged metrics. */
  readonly state: RunState | null
  /** The logged metrics, row by row; none for a change of the state. */
  readonly rows: readonly Readonly<Record<string, number>>[]
}

export interface CallTrigger extends Common {
  readonly kind: 'call'
  readonly project_id: string
  readonly call_id: string
  readonly failed: boolean
  /** Own usage without descendants; null if this event is not the call's end. */
  readonly total_tokens: number | null
  /** Null until both start and end are known. */
  readonly latency_ms: number | null
  /** What the call is charged for; null until both start and end are known. */
  readonly charged: ChargedCall | null
}

export interface WebhookTrigger extends Common {
  readonly kind: 'webhook'
  readonly webhook_id: string
  readonly reason: string
}

export interface DeliveryTrigger extends Common {
  readonly kind: 'delivery'
  readonly delivery_id: string
  readonly reason: string | null
}

export interface BudgetTrigger extends Common {
  readonly kind: 'budget'
  /** The project of a project's budget, else null. */
  readonly project: string | null
  /** The budget's scope type: `team`, `project` or `key`. */
  readonly of: string
  /** In per cent. */
  readonly level: number
  readonly spent: number
}

export interface EvaluationTrigger extends Common {
  readonly kind: 'evaluation'
  readonly project_id: string
  /** Also the id of the run's call. */
  readonly run_id: string
  readonly name: string | null
  /** The name of the Evaluation object. */
  readonly evaluation: string | null
  readonly outcome: EvaluationRunFinished['outcome']
  readonly error: string | null
  /** By scorer. */
  readonly summary: JsonObject
}

export interface ScoreTrigger extends Common {
  readonly kind: 'score'
  readonly project_id: string
  /** Null for feedback on an object. */
  readonly call_id: string | null
  readonly scorer: string
  /** Null if it is too large for an event. */
  readonly score: Json
}

/** A recorded event in the form that conditions are checked against. */
export type Trigger =
  | ArtifactTrigger
  | RunTrigger
  | CallTrigger
  | WebhookTrigger
  | DeliveryTrigger
  | BudgetTrigger
  | EvaluationTrigger
  | ScoreTrigger

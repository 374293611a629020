import type { JsonObject } from '../../json/json.js'
import type { Position } from '../../ports/event-store.js'
import type { Charged } from '../../price/standing.js'
import type { EventType } from '../events.js'

/** What every trigger says: the event that it is, where, and by whom. */
interface Common {
  readonly eventId: string
  readonly stream: string
  readonly revision: bigint
  readonly position: Position
  /** When the log recorded it. */
  readonly at: Date
  readonly team: string
  /** The event's actor: `${event_author}`. */
  readonly author: string
  /**
   * How many deliveries lie between it and what somebody did; null where that stands in the `DeliveryScheduled` of its
   * stream.
   */
  readonly depth: number | null
  /** The conditions that may be met by it. */
  readonly types: readonly EventType[]
}

/** The version of an artifact that a change was made to, as its own event told it. */
export interface VersionShown {
  readonly version: number
  readonly artifact_id: string
  readonly metadata: JsonObject
}

export interface ArtifactTrigger extends Common {
  readonly kind: 'artifact'
  /** Exactly one of the two is there. */
  readonly project_id: string | null
  readonly registry: string | null
  readonly collection: string
  readonly version: number
  /** Of an alias that was added; else null, as is the tag of what is no tag. */
  readonly alias: string | null
  readonly tag: string | null
  /** Null where an earlier event of the same stream tells it: see `version-shown.ts`. */
  readonly shown: VersionShown | null
}

/** Killed runs trigger nothing: no condition can name that state. */
export type RunState = 'RUNNING' | 'FINISHED' | 'FAILED' | 'KILLED'

export interface RunTrigger extends Common {
  readonly kind: 'run'
  readonly project_id: string
  readonly run_id: string
  readonly name: string
  readonly user: string
  /** Null where metrics were logged. */
  readonly state: RunState | null
  readonly metrics: Readonly<Record<string, number>>
}

export interface CallTrigger extends Common {
  readonly kind: 'call'
  readonly project_id: string
  readonly call_id: string
  readonly failed: boolean
  /** What its end reports, without those of other calls; null where this event is not its end. */
  readonly total_tokens: number | null
  /** Null until start and end are both known. */
  readonly latency_ms: number | null
  /** What it is charged for; null until start and end are both known. */
  readonly charged: Charged | null
}

export interface WebhookTrigger extends Common {
  readonly kind: 'webhook'
  readonly webhook_id: string
  /** Why it was disabled. */
  readonly reason: string
}

export interface DeliveryTrigger extends Common {
  readonly kind: 'delivery'
  readonly delivery_id: string
  /** Why it is dead. */
  readonly reason: string | null
}

export interface BudgetTrigger extends Common {
  readonly kind: 'budget'
  /** Of a project's budget, else null. */
  readonly project: string | null
  /** What of a team it is the budget of: `team`, `project` or `key`. */
  readonly of: string
  /** In per cent. */
  readonly level: number
  readonly spent: number
}

/** What a recorded event is to automations. */
export type Trigger =
  ArtifactTrigger | RunTrigger | CallTrigger | WebhookTrigger | DeliveryTrigger | BudgetTrigger

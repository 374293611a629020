import type { EndCall, StartCall } from '../../domain/call/commands.js'
import type { Instant } from '../../domain/codec/instant.js'
import type { EvaluationRow } from '../../domain/evaluation/row.js'
import type { ScoreRow } from '../../domain/evaluation/scoring.js'
import type { Cause } from '../../domain/event.js'
import type { Json, JsonObject } from '../../domain/json/json.js'
import type { Log } from '../../domain/ports/log.js'
import type { Ports } from '../../domain/ports/ports.js'

/** On whose behalf a run reads and writes. */
export interface RunUser {
  readonly userId: string
  readonly keyId: string
}

/** A call as it is recorded; payloads are parsed. */
export interface RecordedCall {
  readonly op_name: string
  readonly display_name: string | null
  readonly attributes: JsonObject
  readonly inputs: JsonObject
  readonly started_at: Instant
  readonly ended_at: Instant | null
  readonly output: Json
  readonly summary: JsonObject
  readonly exception: string | null
}

/** A row of the source run, with the calls that it was made of. */
export interface SourceRow {
  readonly row: EvaluationRow
  readonly opName: string
  /** The example with its reference resolved; null where it does not resolve to an object. */
  readonly example: JsonObject | null
  readonly prediction: RecordedCall | null
}

/** A scorer that is ready to be applied. */
export interface ReadyScorer {
  readonly ref: string
  readonly name: string
  /** Null for a scorer that cannot run in the service; `reason` says why and what to do. */
  readonly score: ScoreRow | null
  readonly reason: string
  /** Whether it answers at once, without I/O. */
  readonly isLocal: boolean
  readonly maxConcurrency: number
  readonly maxPerSecond: number | null
}

export type CallWrite = Pick<StartCall, 'type' | 'source' | 'start'> | EndCall

/** What evaluations ask of the rest of the service. */
export interface EvaluationPorts extends Pick<Ports, 'eventStore' | 'ids' | 'sha256' | 'clock'> {
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Writes calls; a call that repeats a recorded one writes nothing. */
  readonly writeCalls: (writes: readonly CallWrite[], cause: Cause) => Promise<void>
  /** A call as the log has it now. */
  readonly call: (projectId: string, id: string) => Promise<RecordedCall | undefined>
  /** The rows of a run in a stable order, in pages. */
  readonly sourceRows: (
    projectId: string,
    runId: string,
    user: RunUser,
    signal: AbortSignal,
  ) => AsyncIterable<readonly SourceRow[]>
  /** The value of an object; undefined if it does not exist or the user may not read it. */
  readonly object: (ref: string, user: RunUser) => Promise<Json | undefined>
  /** Publishes a version of an object and returns a reference to it. */
  readonly publishObject: (projectId: string, objectId: string, value: Json, cause: Cause) => Promise<string>
  /** Prepares a scorer object; undefined if it does not exist or the user may not read it. */
  readonly scorer: (ref: string, user: RunUser) => Promise<ReadyScorer | undefined>
  /** Delays while the read models lag behind. */
  readonly throttle: () => Promise<void>
}

/** The run cannot succeed, however often it is tried. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed'
}

import type { EndCall, StartCall } from '../../domain/calls/commands.js'
import type { EvaluationObject } from '../../domain/evaluations/evaluation-object.js'
import type { EvaluationRow } from '../../domain/evaluations/row.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { ScoreContext, ScoreRow } from '../../domain/evaluations/scoring.js'
import type { Cause } from '../../kernel/event.js'
import type { Json } from '../../kernel/json/json.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'

/** On whose behalf a run reads and writes. */
export interface RunUser {
  readonly userId: string
  readonly keyId: string
}

/** A row of a run that the service works on. */
export interface RowToScore {
  /** The same in every attempt, and another for each row of the run. */
  readonly key: string
  /** Of the row's call. */
  readonly opName: string
  /** As recorded: the value, or a reference to a row of a dataset. */
  readonly example: Json
  /** With its reference resolved; null where it does not resolve. */
  readonly exampleValue: Json
}

/** A row of the run that is rescored, with its prediction. Its key is the id of its call. */
export interface SourceRow extends RowToScore {
  readonly row: EvaluationRow
  readonly prediction: EvaluationCall | null
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

/** Asks a model about an example. Never rejects. */
export type AskableModel = (
  example: Json,
  context: ScoreContext,
) => Promise<{ readonly output: Json } | { readonly failed: string }>

export type CallWrite = Pick<StartCall, 'type' | 'source' | 'start'> | EndCall

/** What evaluations ask of the rest of the service. */
export interface EvaluationPorts extends Pick<Ports, 'eventStore' | 'ids' | 'sha256' | 'clock'> {
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Writes calls; a call that repeats a recorded one writes nothing. */
  readonly writeCalls: (writes: readonly CallWrite[], cause: Cause) => Promise<void>
  /** A call as the log has it now. */
  readonly call: (projectId: string, id: string) => Promise<EvaluationCall | undefined>
  /** The ids of the calls that the service wrote for a run and that have not ended. */
  readonly openCalls: (projectId: string, runId: string) => Promise<readonly string[]>
  /** The rows of a run in a stable order, in pages. */
  readonly sourceRows: (
    projectId: string,
    runId: string,
    user: RunUser,
  ) => AsyncIterable<readonly SourceRow[]>
  /** The rows of the dataset of an Evaluation object, in pages; all of them again for each trial. */
  readonly datasetRows: (evaluation: EvaluationObject, user: RunUser) => AsyncIterable<readonly RowToScore[]>
  /** Prepares the model of `evaluate_model`; undefined if it does not exist or the user may not read it. */
  readonly model: (ref: string, user: RunUser) => Promise<AskableModel | undefined>
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

import type { Instant } from '../../kernel/codec/instant.js'
import type { WrittenLines } from './history.js'
import type { EndState, ForkPoint, OutputFile, RunDetails } from './events.js'

interface OfRun {
  readonly project_id: string
  readonly run_id: string
}

export interface StartRun extends OfRun {
  readonly type: 'StartRun'
  readonly name: string
  readonly user: string
  readonly now: Instant
}

/** Starts a run, or changes what is given of one that exists: null keeps a value, '' removes a text. */
export interface DescribeRun extends OfRun {
  readonly type: 'DescribeRun'
  readonly user: string
  readonly name: string | null
  readonly details: { readonly [Key in keyof RunDetails]: RunDetails[Key] | null }
  /** JSON text. */
  readonly config: string | null
  /** JSON text. */
  readonly summary: string | null
  /** Where a new run begins. */
  readonly fork: ForkPoint | null
  /** A program begins: a run that had ended continues. */
  readonly begins: boolean
  readonly now: Instant
}

/** Without a step it is never a repeat. */
export interface LogMetrics extends OfRun {
  readonly type: 'LogMetrics'
  readonly metrics: Readonly<Record<string, number>>
  readonly step: number | null
  /** Whether they are logged although the run has ended. */
  readonly evenAfterEnd?: boolean
}

/** What a program sends from time to time. A repeat writes nothing, see `newParts`. */
export interface LogHistory extends OfRun {
  readonly type: 'LogHistory'
  readonly sent: WrittenLines
  readonly output?: Readonly<Partial<Record<OutputFile, WrittenLines>>>
  readonly summary: string | null
  /** Whether to record that the program is alive, if it logs nothing. */
  readonly isQuiet: boolean
  readonly end: EndState | null
  readonly now: Instant
}

export interface StoreRunFile extends OfRun {
  readonly type: 'StoreRunFile'
  readonly path: string
  readonly blob: string
  readonly md5: string
  readonly size: number
  readonly now: Instant
}

export interface DeleteRunFile extends OfRun {
  readonly type: 'DeleteRunFile'
  readonly path: string
  readonly now: Instant
}

export interface UseArtifact extends OfRun {
  readonly type: 'UseArtifact'
  readonly artifact_id: string
  readonly source_project: string
  readonly collection: string
  readonly now: Instant
}

export interface EndRun extends OfRun {
  readonly type: 'EndRun'
  readonly state: EndState
  readonly now: Instant
}

/** Asks the program to end. */
export interface RequestStop extends OfRun {
  readonly type: 'RequestStop'
  readonly now: Instant
}

export interface DeleteRun extends OfRun {
  readonly type: 'DeleteRun'
  readonly now: Instant
}

export type RunCommand =
  | StartRun
  | DescribeRun
  | LogMetrics
  | LogHistory
  | StoreRunFile
  | DeleteRunFile
  | UseArtifact
  | EndRun
  | RequestStop
  | DeleteRun

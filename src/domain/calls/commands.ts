import type { CallEnd, CallStart } from './content.js'
import type { ReportedUsage } from '../usage/reported.js'
import type { CallStarted } from './events.js'

export interface StartCall {
  readonly type: 'StartCall'
  readonly start: CallStart
  /** The trace for a start that names none: the parent's, if its start is known. */
  readonly parentTrace: string | null
  readonly source: CallStarted['source']
  readonly userId: string
}

export interface EndCall {
  readonly type: 'EndCall'
  readonly end: CallEnd
  readonly usage: ReportedUsage
}

/** Ends an abandoned call. Writes nothing if it was ended or deleted in the meantime. */
export interface GiveUpCall {
  readonly type: 'GiveUpCall'
  readonly end: CallEnd
  readonly usage: ReportedUsage
}

export interface RenameCall {
  readonly type: 'RenameCall'
  readonly project_id: string
  readonly id: string
  readonly display_name: string | null
}

export interface DeleteCall {
  readonly type: 'DeleteCall'
  readonly project_id: string
  readonly id: string
}

export type CallCommand = StartCall | EndCall | GiveUpCall | RenameCall | DeleteCall

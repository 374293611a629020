import type { KeyObject } from 'node:crypto'
import type { SignerKey } from '../tlog/note.js'

/** The keys that sign the checkpoints of one log. */
export interface LogKeys {
  /** Names the log. */
  readonly origin: string
  /** The newest first. Former ones are included, because their checkpoints are still checked. */
  readonly all: readonly SignerKey[]
  /** The keys that sign at a time. */
  readonly active: (now: Date) => readonly SignerKey[]
  /** Secret. Makes the salts of events that have none in the log. */
  readonly salt: KeyObject
}

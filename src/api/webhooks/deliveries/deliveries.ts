import type { AttemptRecords } from '../../../kernel/ports/attempt-records.js'
import type { CompilePattern } from '../../../kernel/ports/patterns.js'
import type { Ports } from '../../../kernel/ports/ports.js'
import type { Access } from '../../../application/access/access.js'
import type { Reading } from '../../../application/reading/reading.js'

export interface Deliveries {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'sha256' | 'clock'> & {
    readonly compilePattern: CompilePattern
    /** Details of attempts, which are only stored for a time in the process that made them. */
    readonly attempts: Pick<AttemptRecords, 'of'>
  }
  readonly access: Pick<Access, 'directory'>
  readonly reading: Reading
  /** The vendor name in references to artifacts. */
  readonly vendor: string
}

/** Changes of a team's deliveries are acknowledged under this name. */
export const ackScopeOf = (team: string): string => `deliveries of ${team}`

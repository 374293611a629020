import type { Cause } from '../../domain/event.js'
import type { Position } from '../../domain/ports/event-store.js'
import { authorizeWrite, type Teams } from '../projects/access.js'
import type { Principal } from '../principal.js'
import type { Reading } from '../reading.js'
import { writeCalls, type AllWritten, type WritingPorts } from './write-calls.js'
import type { CallWrite } from './call-writes.js'

/** What the tracing routes stand on. */
export interface Tracing {
  readonly ports: WritingPorts
  readonly teams: Teams
  readonly reading: Reading
  /** Delays a write while the read side is too far behind. */
  readonly throttle: () => Promise<void>
}

/** Records writes of one permitted project or several, and remembers how far its readers must see. */
export const record =
  ({ ports, teams, reading, throttle }: Tracing) =>
  async (writes: readonly CallWrite[], principal: Principal, cause: Cause): Promise<AllWritten> => {
    const projects = new Set(writes.map(projectOf))
    for (const project of projects) await authorizeWrite(teams, principal, project, cause)
    await throttle()
    const all = await writeCalls(ports)(writes, cause)
    let position: Position | undefined
    for (const project of projects) position = later(position, reading.ackPosition(project, all.position))
    return { ...all, position }
  }

export const projectOf = (write: CallWrite): string =>
  write.type === 'StartCall' ? write.start.project_id : write.end.project_id

export const later = (a: Position | undefined, b: Position | undefined): Position | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a

import type { Position } from '../../kernel/ports/event-store.js'
import type { ProjectWrites } from '../server/route-kinds.js'
import type { CallWrite } from '../../application/calls/call-writes.js'
import type { WritingPorts } from '../../application/calls/write-calls.js'

export interface Tracing extends ProjectWrites {
  readonly ports: WritingPorts
}

export const projectOf = (write: CallWrite): string =>
  write.type === 'StartCall' ? write.start.project_id : write.end.project_id

export const later = (a: Position | undefined, b: Position | undefined): Position | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a

import type { ProjectWrites } from '../server/route-kinds.js'
import type { WritingPorts } from '../../application/calls/write-calls.js'

export interface Tracing extends ProjectWrites {
  readonly ports: WritingPorts
}

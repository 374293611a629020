import type { Ports } from '../../domain/ports/ports.js'
import type { ProjectReads, ProjectWrites } from '../route-kinds.js'

export interface Files extends ProjectReads, ProjectWrites {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs' | 'ids'>
}

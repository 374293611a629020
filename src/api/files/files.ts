import type { Ports } from '../../domain/ports/ports.js'
import type { ProjectWrites } from '../route-kinds.js'

export interface Files extends ProjectWrites {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs' | 'ids'>
}

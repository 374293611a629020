import type { ProjectReads, ProjectWrites } from '../route-kinds.js'
import type { TablePorts } from './publish.js'

export interface Tables extends ProjectReads, ProjectWrites {
  readonly ports: TablePorts
}

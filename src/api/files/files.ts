import type { Ports } from '../../domain/ports/ports.js'
import type { Teams } from '../projects/access.js'
import type { Reading } from '../reading.js'

/** What the routes of files need. */
export interface Files {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs' | 'ids'>
  readonly teams: Teams
  readonly reading: Reading
}

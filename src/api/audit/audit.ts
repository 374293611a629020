import type { Ports } from '../../kernel/ports/ports.js'
import type { Reading } from '../reading.js'

export interface Audit {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs'>
  readonly reading: Reading
}

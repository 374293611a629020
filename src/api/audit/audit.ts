import type { Ports } from '../../kernel/ports/ports.js'
import type { Reading } from '../../application/reading/reading.js'

export interface Audit {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs'>
  readonly reading: Reading
}

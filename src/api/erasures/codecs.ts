import { ERASURE_STAGES } from '../../application/erasures/erasures.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, number, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'

export const erasure = open('Erasure', {
  required: {
    id: string,
    state: oneOf(...ERASURE_STAGES),
    requested_at: instant,
    requested_by: string,
    reason: string,
    /** Whether figures are erased too. */
    figures: boolean,
    selected_calls: number,
    /** Of the receipts so far. */
    calls: number,
    events: number,
    bytes: number,
    /** Damaged events, which were left as they are. */
    unreadable: number,
    blobs_deleted: number,
    /** Ranges of the positions of changed events, such as `17-19,23`. */
    positions: arrayOf(string),
  },
  optional: { finished_at: nullable(instant) },
})

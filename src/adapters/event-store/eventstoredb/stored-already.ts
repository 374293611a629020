import type { Appended, EventStore, RecordedEvent } from '../../../kernel/ports/event-store.js'
import { firstRevisionOf } from '../expectation.js'
import type { Proposal } from './proposal.js'

/** Where the events of a proposal are, if they all are where it would have put them. */
export const storedAlready = async (
  reading: Pick<EventStore, 'readStream'>,
  { stream, expected, ids }: Proposal,
): Promise<Appended | undefined> => {
  let last: RecordedEvent | undefined
  let matched = 0
  const from = BigInt(firstRevisionOf(expected))
  for await (const event of reading.readStream(stream, { from, limit: ids.length })) {
    if (event.id !== ids[matched]) return undefined
    matched += 1
    last = event
  }
  return last !== undefined && matched === ids.length
    ? { revision: last.revision, position: last.position }
    : undefined
}

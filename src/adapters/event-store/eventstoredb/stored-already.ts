import type { Appended, EventStore, RecordedEvent } from '../../../domain/ports/event-store.js'
import { firstRevisionOf } from '../expectation.js'
import type { Proposal } from './proposal.js'

type Reading = Pick<EventStore, 'readStream'>

/** Where the events of a proposal stand, if they all stand where it would have put them. */
export const storedAlready = async (
  reading: Reading,
  { stream, expected, ids }: Proposal,
): Promise<Appended | undefined> => {
  const first = firstRevisionOf(expected)
  if (first === undefined) return (await recentlyStored(reading, { stream, ids })).found
  let last: RecordedEvent | undefined
  let matched = 0
  for await (const event of reading.readStream(stream, { from: BigInt(first), limit: ids.length })) {
    if (event.id !== ids[matched]) return undefined
    matched += 1
    last = event
  }
  return last !== undefined && matched === ids.length ? placeOf(last) : undefined
}

/** How far back the events of an append that names no revision are looked for. */
const LOOK_BACK = 1000

export interface Recent {
  readonly found: Appended | undefined
  /** The stream's last event; undefined for no stream. */
  readonly last: RecordedEvent | undefined
}

/** Looks for events that follow one another among the last of a stream. */
export const recentlyStored = async (
  reading: Reading,
  { stream, ids }: Pick<Proposal, 'stream' | 'ids'>,
): Promise<Recent> => {
  let last: RecordedEvent | undefined
  let end: RecordedEvent | undefined
  let matched = 0
  for await (const event of reading.readStream(stream, { backwards: true, limit: LOOK_BACK + ids.length })) {
    last ??= event
    matched = event.id === ids[ids.length - 1 - matched] ? matched + 1 : 0
    if (matched === 1) end = event
    if (matched === ids.length && end !== undefined) return { found: placeOf(end), last }
  }
  return { found: undefined, last }
}

const placeOf = ({ revision, position }: RecordedEvent): Appended => ({ revision, position })

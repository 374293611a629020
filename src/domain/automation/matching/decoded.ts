import * as E from 'fp-ts/lib/Either.js'
import type { Codec } from '../../codec/codec.js'
import type { RecordedEvent } from '../../ports/event-store.js'

/** An event's data where it is what its type says; undefined for what somebody else made of it. */
export const decoded = <A>(codec: Codec<A>, { data }: RecordedEvent): A | undefined => {
  const result = codec.decode(data)
  return E.isRight(result) ? result.right : undefined
}

/** What triggers take from the envelope of their event. */
export const enveloped = ({ id, stream, revision, position, recordedAt, metadata }: RecordedEvent) => ({
  eventId: id,
  stream,
  revision,
  position,
  at: recordedAt,
  author: metadata.actor,
  depth: 0,
})

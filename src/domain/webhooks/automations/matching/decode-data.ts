import * as E from 'fp-ts/lib/Either.js'
import type { Codec } from '../../../../kernel/codec/codec.js'
import type { RecordedEvent } from '../../../../kernel/ports/event-store.js'

/**
 * An event's data, decoded; undefined if it does not match the codec of its type, since anyone with access to the log
 * may write.
 */
export const decodeData = <A>(codec: Codec<A>, { data }: RecordedEvent): A | undefined => {
  const result = codec.decode(data)
  return E.isRight(result) ? result.right : undefined
}

/** The fields that a trigger copies from the envelope of its event. */
export const envelopeOf = ({ id, stream, revision, position, recordedAt, metadata }: RecordedEvent) => ({
  eventId: id,
  stream,
  revision,
  position,
  at: recordedAt,
  author: metadata.actor,
  depth: 0,
})

import { idOfRepeat, type WrittenEvent } from '../adapters/event-store/sqlite/log-copy.js'
import { isErased, SALT_BYTES, SEAL_BYTES } from '../kernel/event-seal.js'
import { canonicalJson } from '../kernel/json/canonical.js'
import type { Json } from '../kernel/json/json.js'
import { parseJson } from '../kernel/json/parse.js'
import type { RecordedEvent } from '../kernel/ports/event-store.js'
import type { LogSource } from '../kernel/ports/log-source.js'
import { OperatorError } from '../kernel/ports/operator-error.js'

/** @throws OperatorError unless the source has the last event of the copy at the same place */
export const assertSameLog = async (source: LogSource, last: WrittenEvent): Promise<void> => {
  const { stream } = last
  const place = { stream, revision: BigInt(last.revision), position: BigInt(last.position) }
  const event = await source.eventAt(place)
  const ids = event === undefined ? [] : [event.id, idOfRepeat(event)]
  if (event === undefined || !ids.some((id) => isSame({ ...event, id }, last)))
    throw new OperatorError(
      `the directory contains another log: its last event, ${last.id} at position ${last.position}, is not in the source`,
    )
}

/** The source may have erased the event after it was copied. */
const isSame = (event: RecordedEvent, copy: WrittenEvent): boolean => {
  const copied = recorded(copy)
  if (event.seal === undefined || !isErased(event.seal))
    return eventFingerprint(event) === eventFingerprint(copied)
  const digests = [event.seal, Buffer.from(copy.seal, 'hex')].map((seal) =>
    seal.subarray(SALT_BYTES, SEAL_BYTES),
  )
  const data = {}
  return (
    Buffer.compare(digests[0]!, digests[1]!) === 0 &&
    eventFingerprint({ ...event, data }) === eventFingerprint({ ...copied, data })
  )
}

const recorded = ({ seal: _, ...written }: WrittenEvent): RecordedEvent => ({
  ...written,
  position: BigInt(written.position),
  revision: BigInt(written.revision),
  recordedAt: new Date(written.recordedAt),
  data: parseJson(written.data) as RecordedEvent['data'],
  metadata: JSON.parse(written.metadata) as RecordedEvent['metadata'],
  size: 0,
})

const eventFingerprint = ({
  id,
  type,
  stream,
  revision,
  position,
  recordedAt,
  data,
  metadata,
}: RecordedEvent): string =>
  canonicalJson([
    id,
    type,
    stream,
    String(revision),
    String(position),
    recordedAt.getTime(),
    data,
    metadata,
  ] as Json)

import type { Problem } from '../../domain/codec/problem.js'
import { utf8Bytes } from '../../domain/codec/text.js'
import { newEvent, type Cause } from '../../domain/event.js'
import { intakeStream, type ElementRefused } from '../../domain/intake/events.js'
import type { Appended, Position } from '../../domain/ports/event-store.js'
import type { Ports } from '../../domain/ports/ports.js'
import { uuidOfDigest } from '../../domain/uuid-of-digest.js'
import { later } from './tracing.js'

export interface Refused {
  readonly project_id: string
  readonly problem: Problem
  /** The element's JSON text as it came. */
  readonly text: string
}

const MAX_RAW_BYTES = 256 * 1024

/** So many are kept at once: enough for one sync of the disk to serve them all. */
const AT_ONCE = 256

/** Keeps elements that were not taken, in their order; the same element refused again is the same event. */
export const recordRefusals =
  (ports: Pick<Ports, 'eventStore' | 'blobs' | 'sha256'>) =>
  async (refusals: readonly Refused[], cause: Cause): Promise<Position | undefined> => {
    let last: Position | undefined
    for (let from = 0; from < refusals.length; from += AT_ONCE) {
      const some = await Promise.all(refusals.slice(from, from + AT_ONCE).map((one) => eventData(ports, one)))
      const kept = await Promise.all(some.map((data) => append(ports, data, cause)))
      for (const { position } of kept) last = later(last, position)
    }
    return last
  }

const append = (
  { eventStore, sha256 }: Pick<Ports, 'eventStore' | 'sha256'>,
  data: ElementRefused,
  cause: Cause,
): Promise<Appended> => {
  const id = uuidOfDigest(sha256(JSON.stringify(data)))
  // A stream for each element: a store recognises the repeat of an append that expects a new stream for ever.
  return eventStore.append(intakeStream(data.project_id, id), 'none', [
    newEvent(id, { type: 'ElementRefused', data }, cause),
  ])
}

const eventData = async (
  { blobs }: Pick<Ports, 'blobs'>,
  { project_id, problem, text }: Refused,
): Promise<ElementRefused> => {
  const said = { project_id, loc: problem.loc, msg: problem.msg, type: problem.type }
  if (utf8Bytes(text) <= MAX_RAW_BYTES) return { ...said, raw: text, raw_blob: null }
  const bytes = new TextEncoder().encode(text)
  return { ...said, raw: null, raw_blob: { digest: await blobs.put(bytes), size: bytes.length } }
}

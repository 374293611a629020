import type { Problem } from '../../domain/codec/problem.js'
import { utf8Bytes } from '../../domain/codec/text.js'
import { newEvent, type Cause } from '../../domain/event.js'
import { intakeStream, type ElementRefused } from '../../domain/intake/events.js'
import type { Appended, Position } from '../../domain/ports/event-store.js'
import type { Ports } from '../../domain/ports/ports.js'
import { later } from './tracing.js'

export interface ElementRefusal {
  readonly project_id: string
  readonly problem: Problem
  /** The original JSON text of the element. */
  readonly text: string
}

const MAX_RAW_BYTES = 256 * 1024

/** Appends this many concurrently, so that they share one fsync. */
const AT_ONCE = 256

/** Records refused elements in order. Recording the same element again writes the same event. */
export const recordRefusals =
  (ports: Pick<Ports, 'eventStore' | 'blobs' | 'sha256'>) =>
  async (refusals: readonly ElementRefusal[], cause: Cause): Promise<Position | undefined> => {
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
  const id = uuidOf(sha256(JSON.stringify(data)))
  // One stream per element, because the store recognises a repeated first append of a stream for ever.
  return eventStore.append(intakeStream(data.project_id, id), 'none', [
    newEvent(id, { type: 'ElementRefused', data }, cause),
  ])
}

const eventData = async (
  { blobs }: Pick<Ports, 'blobs'>,
  { project_id, problem, text }: ElementRefusal,
): Promise<ElementRefused> => {
  const said = { project_id, loc: problem.loc, msg: problem.msg, type: problem.type }
  if (utf8Bytes(text) <= MAX_RAW_BYTES) return { ...said, raw: text, raw_blob: null }
  const bytes = new TextEncoder().encode(text)
  return { ...said, raw: null, raw_blob: { digest: await blobs.put(bytes), size: bytes.length } }
}

/** A UUID of version 8 (custom) from the beginning of a digest. */
export const uuidOf = (digest: string): string =>
  `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`

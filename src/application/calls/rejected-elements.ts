import type { Problem } from '../../kernel/codec/problem.js'
import { utf8Bytes } from '../../kernel/codec/text.js'
import { newEvent, type Cause } from '../../kernel/event.js'
import { intakeStream, type ElementRefused } from '../../domain/intake/events.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { deeperThan } from '../../kernel/json/measure.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../services.js'
import { uuidOfDigest } from '../../kernel/uuid-of-digest.js'
import { later } from '../../kernel/later.js'

export interface RejectedElement {
  readonly project_id: string
  readonly problem: Problem
  readonly raw: Json
}

const MAX_RAW_BYTES = 256 * 1024

/** Stored levels of a rejected element; `JSON.stringify` overflows the stack at about 5,000. */
const MAX_LEVELS = 1000

/** Appends this many in parallel so that they share one fsync. */
const AT_ONCE = 256

/** Records rejected elements in order. Recording the same element again writes the same event. */
export const recordRejected =
  (services: Pick<Services, 'eventStore' | 'blobs' | 'sha256'>) =>
  async (rejected: readonly RejectedElement[], cause: Cause): Promise<Position | undefined> => {
    let last: Position | undefined
    for (let from = 0; from < rejected.length; from += AT_ONCE) {
      const some = await Promise.all(
        rejected.slice(from, from + AT_ONCE).map((one) => eventData(services, one)),
      )
      const appended = await Promise.all(some.map((data) => append(services, data, cause)))
      for (const { position } of appended) last = later(last, position)
    }
    return last
  }

const append = (
  { eventStore, sha256 }: Pick<Ports, 'eventStore' | 'sha256'>,
  data: ElementRefused,
  cause: Cause,
) => {
  const id = uuidOfDigest(sha256(JSON.stringify(data)))
  // A stream for each element: the store recognises a repeated first append of a stream.
  const stream = intakeStream(data.project_id, id)
  return eventStore.append(stream, 'none', [newEvent(id, { type: 'ElementRefused', data }, cause)])
}

const eventData = async (
  { blobs }: Pick<Ports, 'blobs'>,
  { project_id, problem: { loc, msg, type }, raw }: RejectedElement,
): Promise<ElementRefused> => {
  const text = jsonText(deeperThan(raw, MAX_LEVELS) ? firstLevels(raw, MAX_LEVELS) : raw)
  const said = { project_id, loc, msg, type }
  if (utf8Bytes(text) <= MAX_RAW_BYTES) return { ...said, raw: text, raw_blob: null }
  const bytes = new TextEncoder().encode(text)
  return { ...said, raw: null, raw_blob: { digest: await blobs.put(bytes), size: bytes.length } }
}

/** Replaces what is nested deeper by null. */
const firstLevels = (value: Json, levels: number): Json => {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return null
  if (!isJsonObject(value)) return value.map((item) => firstLevels(item, levels - 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, firstLevels(member, levels - 1)]),
  )
}

import type { Problem } from '../../domain/codec/problem.js'
import { utf8Bytes } from '../../domain/codec/text.js'
import { newEvent, type Cause } from '../../domain/event.js'
import { intakeStream, type ElementRefused } from '../../domain/intake/events.js'
import type { Json } from '../../domain/json/json.js'
import { writeJson } from '../../domain/json/write.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Ports } from '../../domain/ports/ports.js'

export interface Refused {
  readonly project_id: string
  readonly problem: Problem
  readonly raw: Json
}

const MAX_RAW_BYTES = 256 * 1024

/** Keeps elements that were not taken; the same element refused again is the same event. */
export const recordRefusals =
  (ports: Pick<Ports, 'eventStore' | 'blobs' | 'sha256'>) =>
  async (refusals: readonly Refused[], cause: Cause): Promise<Position | undefined> => {
    let last: Position | undefined
    for (const refused of refusals) {
      const data = await eventData(ports, refused)
      const id = uuidOf(ports.sha256(JSON.stringify(data)))
      const event = newEvent(id, { type: 'ElementRefused', data }, cause)
      const { position } = await ports.eventStore.append(intakeStream(refused.project_id), 'any', [event])
      last = position ?? last
    }
    return last
  }

const eventData = async (
  { blobs }: Pick<Ports, 'blobs'>,
  { project_id, problem, raw }: Refused,
): Promise<ElementRefused> => {
  const text = writeJson(raw)
  const said = { project_id, loc: problem.loc, msg: problem.msg, type: problem.type }
  if (utf8Bytes(text) <= MAX_RAW_BYTES) return { ...said, raw: text, raw_blob: null }
  const bytes = new TextEncoder().encode(text)
  return { ...said, raw: null, raw_blob: { digest: await blobs.put(bytes), size: bytes.length } }
}

/** A UUID (version 8, a form of our own) from the beginning of a digest. */
export const uuidOf = (digest: string): string =>
  `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`

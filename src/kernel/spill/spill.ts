import { utf8Bytes } from '../codec/text.js'
import { digitsIn, withDigitsOf } from '../json/digits.js'
import { jsonBytesAtMost } from '../json/measure.js'
import type { Json } from '../json/json.js'
import { canonicalJsonInSteps, jsonTextInSteps } from '../json/text-in-steps.js'
import { entityOf } from '../ids.js'
import { EventTooLarge } from '../ports/event-store-errors.js'
import type { Ports } from '../ports/ports.js'
import type { SpilledField, SpilledFields } from './fields.js'

/** JSON fields larger than this go to the blob store. */
const MAX_FIELD_BYTES = 256 * 1024

/**
 * Limit for a start or an end; if it is exceeded, the largest remaining fields are spilled too. A start and an end
 * together fit in one event and one append.
 */
const MAX_EVENT_BYTES = 440 * 1024

/** Characters of a spilled exception that stay in the event. */
const MAX_EXCEPTION_HEAD = 4096

/** Fields that are already spilled stay so. */
interface Spillable {
  readonly project_id?: string
  readonly spilled?: SpilledFields
}

/** A field as JSON, and its length in UTF-8. */
export interface FieldText {
  readonly text: string
  readonly bytes: number
}

type KnownTexts = Readonly<Partial<Record<string, FieldText>>>

type SpillPorts = Pick<Ports, 'blobs' | 'sha256'>

/**
 * Writes payload fields that are too large for an event to the blob store, durably, before the event is written.
 * Returns small content unchanged and synchronously. `rest` is the remaining content of the event, and `known` the JSON of
 * fields that the caller has serialised.
 *
 * Rejects with EventTooLarge if the event is still too large.
 */
export const spill =
  (ports: SpillPorts) =>
  <C extends Spillable>(
    content: C,
    fields: readonly (string & keyof C)[],
    rest: Json = null,
    known: KnownTexts = {},
  ): C | Promise<C> => {
    const most = jsonBytesAtMost(content as Json, MAX_FIELD_BYTES)
    return most <= MAX_FIELD_BYTES && most + jsonBytesAtMost(rest, MAX_EVENT_BYTES) <= MAX_EVENT_BYTES
      ? content
      : spillLarge(ports)(content, fields, rest, known)
  }

const spillLarge =
  ({ blobs, sha256 }: SpillPorts) =>
  async <C extends Spillable>(
    content: C,
    fields: readonly (string & keyof C)[],
    rest: Json,
    known: KnownTexts,
  ): Promise<C> => {
    const here = fields.filter((field) => content.spilled?.[field] === undefined)
    const texts = new Map<string & keyof C, string>()
    for (const field of here)
      texts.set(
        field,
        known[field]?.text ?? digitsIn(content, field) ?? (await jsonTextInSteps(content[field] as Json)),
      )
    const sizes = new Map([...texts].map(([field, text]) => [field, known[field]?.bytes ?? utf8Bytes(text)]))
    const others = Object.fromEntries(
      Object.entries(content).filter(([field]) => !texts.has(field as keyof C & string)),
    )
    const total = [...sizes.values()].reduce(
      (sum, size) => sum + size,
      utf8Bytes(JSON.stringify(others)) + utf8Bytes(JSON.stringify(rest)),
    )
    const leaving = toSpill(sizes, total)
    const spilled: Record<string, SpilledField> = { ...content.spilled }
    const emptied: Record<string, string | null> = {}
    const team = content.project_id && entityOf(content.project_id)
    for (const field of leaving) {
      const text = texts.get(field)!
      const digest = await blobs.put(Buffer.from(text), team)
      const value = content[field] as Json
      // A writer that knows the text never repeats its write in another form.
      const canonical = known[field] === undefined ? sha256(await canonicalJsonInSteps(value)) : digest
      spilled[field] = { digest, size: sizes.get(field)!, canonical }
      emptied[field] = field === 'exception' && typeof value === 'string' ? beginningOf(value) : null
    }
    return withDigitsOf(content, { ...content, ...emptied, spilled })
  }

const beginningOf = (exception: string): string => exception.slice(0, MAX_EXCEPTION_HEAD).toWellFormed()

/** All fields over the field limit, then the largest until the event fits. */
const toSpill = <F>(sizes: ReadonlyMap<F, number>, total: number): readonly F[] => {
  const largestFirst = [...sizes].sort(([, a], [, b]) => b - a)
  const leaving: F[] = []
  let remaining = total
  for (const [field, size] of largestFirst) {
    if (size <= MAX_FIELD_BYTES && remaining <= MAX_EVENT_BYTES) break
    leaving.push(field)
    remaining -= size
  }
  if (remaining > MAX_EVENT_BYTES)
    throw new EventTooLarge('the event is too large, even without its payload fields')
  return leaving
}

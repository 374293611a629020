import fc from 'fast-check'
import { bodyShapes } from '../../support/large-bodies.js'
import type { Description, Served } from './description.js'
import type { Memory } from './memory.js'
import { requestsToAll, type Planned } from './requests.js'
import { at, placesIn, replaced } from './spoilt.js'
import { written, type Sent } from './wire.js'

/** A request with one part of its body made large. */
export interface ShapedRequest {
  readonly planned: Planned
  readonly shape: string
  /** Of the large part. */
  readonly bytes: number
  /** Chooses the place of the large part. */
  readonly pick: number
}

/** Marks what a schema leaves open. */
const OPEN = 'an open place'
const open = { json: fc.constant(OPEN), jsonObject: fc.constant({ open: OPEN }) }

/** Makes a list long with the items that it has. */
const OWN_ITEMS = 'own items'

const SHAPES = Object.keys(bodyShapes)
const shapes = fc.constantFrom(...SHAPES, ...SHAPES.slice(0, 5).map(() => OWN_ITEMS))

const LEAST_BYTES = 1000

/** Requests to an operation with a part of up to so many bytes. */
export const shapedRequests = (
  operation: Served,
  description: Description,
  most: number,
): fc.Arbitrary<ShapedRequest> =>
  fc.record({
    planned: requestsToAll([operation], description, open).map((planned) => ({
      ...planned,
      method: operation.method,
      prefix: '',
      headers: {},
      key: 'administrator' as const,
    })),
    shape: shapes,
    bytes: fc
      .double({ min: Math.log(LEAST_BYTES), max: Math.log(most), noNaN: true })
      .map((exponent) => Math.floor(Math.exp(exponent))),
    pick: fc.noBias(fc.nat()),
  })

const MARK = 'the place of the large part'

/** The request with the large part in its place. `ids` are those of what is there, by the names of parameters and members. */
export const shaped = (
  { planned, shape, bytes, pick }: ShapedRequest,
  memory: Memory,
  keys: Readonly<Record<string, string>>,
  ids: Readonly<Record<string, string>>,
): Sent => {
  const named = (given: object) =>
    Object.fromEntries(Object.entries(given).map(([key, value]) => [key, ids[key] ?? (value as unknown)]))
  const sent = written({ ...planned, path: named(planned.path) }, memory, keys)
  if (planned.body === undefined || !('json' in planned.body))
    return { ...sent, bytes: withLongPart(sent.bytes, shape, bytes) }
  const value = named(memory.recalled(planned.body.json) ?? {})
  const place = placeFor(shape, value, pick)
  const [before = '', after = ''] = JSON.stringify(replaced(value, place, MARK)).split(`"${MARK}"`)
  return { ...sent, bytes: Buffer.from(before + partAt(at(value, place), shape, bytes) + after) }
}

/** Mostly where a schema is open, or a list; never the whole body if it has parts. */
const placeFor = (shape: string, value: unknown, pick: number) => {
  const [whole, ...parts] = placesIn(value)
  const isFit = (part: unknown) => (shape === OWN_ITEMS ? Array.isArray(part) : part === OPEN)
  const fit = pick % 4 === 0 ? [] : parts.filter((path) => isFit(at(value, path)))
  const places = fit.length > 0 ? fit : parts.length > 0 ? parts : [whole!]
  return places[Math.floor(pick / 4) % places.length]!
}

/** In place of a list, a long list of its items; of a string, a long string. */
const partAt = (value: unknown, shape: string, bytes: number): string => {
  if (shape === OWN_ITEMS && Array.isArray(value)) return `[${manyOf(value, bytes)}]`
  const text = (bodyShapes[shape] ?? bodyShapes['mixed']!)(bytes)
  return typeof value === 'string' && value !== OPEN ? JSON.stringify(text) : text
}

/** With other ids for each item. */
const manyOf = (items: readonly unknown[], bytes: number): string => {
  const texts = items.length === 0 ? ['"item"'] : items.map((item) => JSON.stringify(item))
  const many: string[] = []
  for (let length = 0; length < bytes;) {
    const number = many.length
    const text = texts[number % texts.length]!.replaceAll(
      /"((?:call_)?id)":"[^"]*"|^"item"$/g,
      `"$1":"i${number}"`,
    )
    many.push(text.replace('"":', ''))
    length += text.length + 1
  }
  return many.join(',')
}

/** The last part of a form, the file, or the whole content made long. */
const withLongPart = (form: Buffer | undefined, shape: string, bytes: number): Buffer => {
  const part = (bodyShapes[shape] ?? bodyShapes['mixed']!)(bytes)
  const end = form?.lastIndexOf('\r\n--x--') ?? -1
  return end < 0
    ? Buffer.from(part)
    : Buffer.concat([form!.subarray(0, end), Buffer.from(part), form!.subarray(end)])
}

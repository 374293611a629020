import fc from 'fast-check'
import { Remembered } from './memory.js'

const nested = (depth: number): unknown => {
  let inner: unknown = 'core'
  for (let level = 0; level < depth; level += 1) inner = level % 2 === 0 ? [inner] : { a: inner }
  return inner
}

const usual = fc.constantFrom<unknown>(
  ...[null, true, 0, -1, 1.5, 1e30, -1e308, -0, 2 ** 53, 2 ** 63, 4294967296, 5e-324],
  ...['', ' ', '\u0000', 'a\u0000b', '\ud800', 'a\udc00', "'", '*', '%', '{a:String}', 'x'.repeat(2000)],
  ...[[], {}, [[]], [null], [{}], { $ref: 1 }, ['a', 1], { '': '' }],
  ...['2026-01-01', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-13-45T99:99:99Z', 'a/b', 'a/b/c'],
  ...['constructor', '__proto__', 'toString', 'latest', 'NaN', 'weave:///a/b/object/c:d', '🏴'.repeat(100)],
)

const extreme = fc.constantFrom<unknown>(
  ...['x'.repeat(100_000), '\u0000'.repeat(20_000), nested(100), nested(255), nested(256), nested(600)],
  Array.from({ length: 3000 }, (_, i) => i),
  Array.from({ length: 1000 }, () => ({})),
  Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i])),
)

const odd = fc.oneof(
  { weight: 20, arbitrary: usual },
  { weight: 10, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: extreme },
)

export type Path = readonly (string | number)[]

const isInside = (value: unknown): value is Readonly<Record<string | number, unknown>> =>
  typeof value === 'object' && value !== null && !(value instanceof Remembered)

const MAX_PLACES = 300

/** Places in a value, the outer ones first. */
export const placesIn = (value: unknown): readonly Path[] => {
  const places: Path[] = [[]]
  for (let next = 0; next < places.length && places.length < MAX_PLACES; next += 1) {
    const path = places[next]!
    const here = at(value, path)
    if (isInside(here))
      for (const key of Object.keys(here).slice(0, 50))
        places.push([...path, Array.isArray(here) ? Number(key) : key])
  }
  return places
}

export const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (isInside(inner) ? inner[key] : undefined), value)

/** Without `other`, what is there is left out. */
export const replaced = (value: unknown, [first, ...rest]: Path, other: unknown): unknown => {
  if (first === undefined) return other
  const members = Object.entries(value as object)
  const inner = replaced((value as Record<string | number, unknown>)[first], rest, other)
  const others = members.filter(([key]) => key !== String(first))
  if (!Array.isArray(value))
    return Object.fromEntries(inner === undefined ? others : [...others, [String(first), inner]])
  const items = [...(value as unknown[])]
  items.splice(Number(first), 1, ...(inner === undefined ? [] : [inner]))
  return items
}

/** A value with one to three of its parts replaced, left out or added. */
export const spoilt = (value: unknown): fc.Arbitrary<unknown> => {
  const place = fc.constantFrom(...placesIn(value))
  const change = fc.record({
    place,
    other: fc.option(odd, { nil: undefined, freq: 4 }),
    added: fc.option(fc.constantFrom('more', '__proto__', 'id', 'batch', '', 'wb_user_id', 'query', '0'), {
      nil: undefined,
      freq: 3,
    }),
  })
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) =>
    changes.reduce<unknown>((changed, { place: path, other, added }) => {
      if (!isInside(at(changed, path.slice(0, -1))) && path.length > 0) return changed
      const there = at(changed, path)
      return isInside(there) && !Array.isArray(there) && added !== undefined
        ? replaced(changed, [...path, added], other)
        : replaced(changed, path, other)
    }, value),
  )
}

/** JSON text with something else put into it, or cut off. */
export const spoiltText = (text: string): fc.Arbitrary<Buffer> =>
  fc
    .record({
      at: fc.nat({ max: 1_000_000 }),
      cut: fc.constantFrom(0, 0, 1, 5, Infinity),
      insert: fc.constantFrom<string | Buffer>(
        ...['', '', ',', '}', ']', '"', '\\', '\u0000', '1e999', '-', 'NaN', '\\ud800', '\\u0000', '"a":1,'],
        ...['\ufeff', '/**/', '['.repeat(20_000), '{"a":'.repeat(20_000), '9'.repeat(400)],
        ...[Buffer.from([0xff]), Buffer.from([0xc0, 0x80]), Buffer.from([0xed, 0xa0, 0x80])],
      ),
    })
    .map(({ at: fraction, cut, insert }) => {
      const place = Math.floor((fraction / 1_000_001) * (text.length + 1))
      return Buffer.concat([
        Buffer.from(text.slice(0, place)),
        Buffer.from(insert as string),
        Buffer.from(cut === Infinity ? '' : text.slice(place + cut)),
      ])
    })

import fc from 'fast-check'
import type { Json } from '../../src/domain/json/json.js'

/** A text that must not come back in a refusal. */
export const CANARY = 'canary-7c1f9b'

const nested = (depth: number, open: string, close: string): string =>
  open.repeat(depth) + close.repeat(depth)

const odd: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    ...[null, true, false, 0, -0, -1, 1.5, 1e30, -1e308, 5e-324, 2 ** 53, 2 ** 63, -(2 ** 63)],
    ...[
      '',
      ' ',
      '\0',
      'a\0b',
      '\ud800',
      '\udc00x',
      '\ufeff',
      "'",
      '"',
      '\\',
      '*',
      '%',
      '{x:String}',
      '/',
      ':',
    ],
    ...['x'.repeat(2000), '😀'.repeat(600), CANARY, `${CANARY}/${CANARY}`, `weave:///${CANARY}`],
    ...['2026-01-01', '0001-01-01T00:00:00Z', '2026-02-30T00:00:00Z', '9999-12-31T23:59:59Z', 'a/b', '../..'],
    ...['constructor', '__proto__', 'latest', 'v0', 'NaN', 'null', '1'],
    ...[[], {}, [[]], [null], [{}], [[[[[[]]]]]], { $expr: {} }, { '': CANARY }],
  ),
  fc.jsonValue({ maxDepth: 3, noUnicodeString: false }) as fc.Arbitrary<Json>,
)

type Path = readonly (string | number)[]

/** Every place in a value, but for those inside long lists. */
const placesIn = (value: unknown, at: Path = []): readonly Path[] => [
  at,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value)
        .slice(0, 30)
        .flatMap(([key, member]) => placesIn(member, [...at, Array.isArray(value) ? Number(key) : key]))
    : []),
]

type Change = (member: Json | undefined) => Json | undefined

const changed = (value: Json | undefined, [first, ...rest]: Path, change: Change): Json | undefined => {
  if (first === undefined) return change(value)
  if (Array.isArray(value))
    return value.flatMap((item, index) => {
      const now = index === first ? changed(item as Json, rest, change) : (item as Json)
      return now === undefined ? [] : [now]
    })
  if (typeof value !== 'object' || value === null) return value
  const members = new Map<string, Json>(Object.entries(value))
  const now = changed(members.get(String(first)), rest, change)
  if (now === undefined) members.delete(String(first))
  else members.set(String(first), now)
  return Object.fromEntries(members)
}

/** Replaces a member, removes it, gives it a neighbour, puts it in a list or repeats it. */
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: odd.map((other) => () => other) },
  { weight: 2, arbitrary: fc.constant<Change>(() => undefined) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('more', '__proto__', 'id', 'constructor', '', CANARY, '\ud800'), odd)
      .map(([key, other]): Change => {
        return (member) =>
          typeof member === 'object' && member !== null && !Array.isArray(member)
            ? Object.fromEntries<Json>([...Object.entries(member), [key, other]])
            : other
      }),
  },
  { weight: 1, arbitrary: fc.constant<Change>((member) => (member === undefined ? member : [member])) },
  {
    weight: 1,
    arbitrary: fc.constant<Change>((member) =>
      Array.isArray(member)
        ? [...member, ...member]
        : typeof member === 'string'
          ? `${member}${member}`
          : member,
    ),
  },
)

/** The value with one to three changes at places of it. */
export const spoilt = (value: Json): fc.Arbitrary<Json | undefined> => {
  const places = placesIn(value)
  return fc
    .array(fc.tuple(fc.nat({ max: places.length - 1 }), change), { minLength: 1, maxLength: 3 })
    .map((changes) =>
      changes.reduce<Json | undefined>((now, [place, how]) => changed(now, places[place]!, how), value),
    )
}

const FRAGMENTS = [
  ...[
    '',
    ' ',
    '{',
    '[',
    '"',
    '{"',
    '{]',
    'null',
    'NaN',
    '{"a":1,}',
    '{"a":1 "b":2}',
    "{'a':1}",
    '01',
    '1e999',
  ],
  ...['"\\ud800"', '"\\u12"', '\ufeff{}', '{"a":1}{}', '{"a":1,"a":2}', '{"__proto__":{"a":1}}', '\u0000'],
  ...[nested(100_000, '[', ']'), nested(300, '{"a":', '}'), `{"project_id":${nested(5000, '[', ']')}}`],
]

/** Text that is almost JSON. */
export const broken = (text: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...FRAGMENTS) },
    { weight: 2, arbitrary: fc.nat({ max: Math.max(text.length - 1, 0) }).map((end) => text.slice(0, end)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.nat({ max: text.length }),
          fc.constantFrom(',', '}', '"', '\\', '\0', '\ufffd', '\n', '1e400'),
        )
        .map(([at, more]) => text.slice(0, at) + more + text.slice(at)),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('1e400', '-1e400', '12345678901234567890')
        .map((number) => text.replace(/:\s*("[^"]*"|\d+|null|true|false)/, `:${number}`)),
    },
  )

import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'

/** Text that breaks what is not escaped, cut or counted with care. */
const TROUBLE = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\b\f\n\r\t\v\u001b',
  '\u007f\u0085\u009f',
  '\u2028\u2029',
  '\ufeff',
  '\uffff',
  "it's",
  '"\\"',
  '\\',
  '\\N',
  '\\u0000',
  'NULL',
  "'; DROP TABLE calls --",
  '{x:String}',
  '__proto__',
  'constructor',
  'weave:///entity/project/object/any-name:digest',
  '😀👩‍👩‍👧‍👦',
  'é'.normalize('NFD'),
  '漢字',
  '🏴'.repeat(60),
]

/** No UTF-8 can hold these; JSON can, as escapes. */
const HALVES = ['\ud800', '\udc00', 'a\ud83d', '\ude00b', 'weave:///a/b/c/d:\ud800']

export const troublesomeText = ({ maxLength = 40 } = {}): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 24, arbitrary: fc.string({ unit: 'binary', maxLength: Math.min(maxLength, 40) }) },
    { weight: 16, arbitrary: fc.string({ unit: 'grapheme', maxLength: Math.min(maxLength, 40) }) },
    { weight: 32, arbitrary: fc.constantFrom(...TROUBLE) },
    { weight: 1, arbitrary: fc.constantFrom(...HALVES) },
    { weight: 4, arbitrary: fc.constantFrom('x', '\0', '😀').map((unit) => filled(unit, maxLength)) },
  )

const filled = (unit: string, bytes: number): string =>
  unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))))

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 1e308, -1e308, 5e-324, 2 ** 53, -(2 ** 53), 2 ** 63, 0.1),
)

/** A payload is kept as JSON text, where half a surrogate pair does no harm. */
const payloadText = fc.oneof(
  { weight: 8, arbitrary: troublesomeText() },
  { weight: 1, arbitrary: fc.constantFrom(...HALVES) },
)

/** Keys come as `JSON.parse` makes them: `__proto__` is a key like any other. */
const objectOf = (members: readonly (readonly [string, Json])[]): JsonObject =>
  Object.fromEntries<Json>(members)

const { value } = fc.letrec<{ value: Json; list: Json; object: Json }>((tie) => ({
  value: fc.oneof(fc.constant(null), fc.boolean(), number, payloadText, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.array(fc.tuple(payloadText, tie('value')), { maxLength: 4 }).map(objectOf),
}))

const nested = (depth: number, wrap: (inner: Json) => Json): Json => {
  let inner: Json = 'core'
  for (let level = 0; level < depth; level += 1) inner = wrap(inner)
  return inner
}

const extreme: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  [],
  {},
  nested(250, (inner) => [inner]),
  nested(250, (inner) => ({ '': inner })),
  objectOf([
    ['__proto__', { polluted: true }],
    ['constructor', null],
    ['', 0],
  ]),
)

const large: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  'large '.repeat(60_000),
  Array.from({ length: 5000 }, (_, i) => i),
)

/** Without what is large, for where there is much of it. */
export const arbitraryModestJson: fc.Arbitrary<Json> = fc.oneof(
  { weight: 60, arbitrary: value },
  { weight: 1, arbitrary: extreme },
)

export const arbitraryModestObject: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(payloadText, arbitraryModestJson), { maxLength: 3 })
  .map(objectOf)

export const arbitraryJson: fc.Arbitrary<Json> = fc.oneof(
  { weight: 30, arbitrary: value },
  { weight: 3, arbitrary: extreme },
  { weight: 1, arbitrary: large },
)

export const arbitraryJsonObject: fc.Arbitrary<JsonObject> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.array(fc.tuple(payloadText, arbitraryJson), { minLength: 1, maxLength: 5 }).map(objectOf),
  },
  { weight: 1, arbitrary: fc.constant({}) },
)

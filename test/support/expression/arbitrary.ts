import fc from 'fast-check'
import type { Json } from '../../../src/kernel/json/json.js'
import { CONVERT_TO, type Operand, type Operation } from '../../../src/domain/query/expression.js'
import type { Row } from './evaluate.js'

/** Few words and numbers, so that rows and queries meet; and some that break what is not escaped. */
const WORDS = [
  '',
  'a',
  'b',
  'A',
  'ab',
  'a b',
  'hello-World, again',
  'true',
  'false',
  '0',
  '1',
  '5',
  '5.0',
  ' 5',
  '1e3',
  '+7',
  "it's",
  '"',
  '\\',
  '\\N',
  'x\u0000y',
  '漢字 😀',
  'É',
  'é',
  '{x0:String}',
  'null',
  '[1]',
  '{"a":1}',
  '-',
  '.5',
  '5.',
  '2026-01-01',
  '2026-01-01T00:00:00.000001Z',
  '1767225600',
  '99999999999999999999',
  'nan',
  'inf',
  '1e999',
]

const NUMBERS = [
  0,
  1,
  -1,
  5,
  5.5,
  0.1,
  1 / 3,
  0.22323896460701453,
  123456789.12345679,
  1e3,
  1e15,
  1e20,
  1e21,
  -1e19,
  2 ** 53,
  2 ** 63,
  1e-7,
  1767225600,
  1767225600.000001,
]

export const word = fc.constantFrom(...WORDS)
const number = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.integer() },
)

export const KEYS = [
  'a',
  'b',
  '0',
  '1',
  'a.b',
  'a.0',
  'b.a',
  'it\'s "x"\\',
  'it\'s "x"\\.[a]',
  '[a]',
  '漢',
  '__proto__',
  'x\u0000y',
]

/** Prints keys as a path; a dot of a key stays bare if asked. */
export const pathOf = (keys: readonly string[], isBare: boolean): string =>
  keys
    .map((key) => key.replaceAll('\\', '\\\\'))
    .map((key) => (isBare ? key : key.replaceAll('.', '\\.')))
    .join('.')
export const scalar: fc.Arbitrary<Json> = fc.oneof(fc.constant(null), fc.boolean(), number, word)

export const { json } = fc.letrec<{ json: Json; list: Json; object: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 3, arbitrary: scalar },
    { weight: 1, arbitrary: tie('list') },
    { weight: 2, arbitrary: tie('object') },
  ),
  list: fc.array(tie('json'), { maxLength: 3 }),
  object: fc
    .array(fc.tuple(fc.constantFrom(...KEYS), tie('json')), { maxLength: 4 })
    .map((members) => Object.fromEntries<Json>(members)),
}))

const instant = fc.constantFrom(
  0,
  -1,
  1,
  1767225600_000000,
  1767225600_000001,
  1767225600_500000,
  -2208988800_000000,
)

export const jsonPayload: fc.Arbitrary<Json> = fc
  .array(fc.tuple(fc.constantFrom(...KEYS), json), { maxLength: 5 })
  .map((members) => Object.fromEntries<Json>(members))

export const arbitraryRow: fc.Arbitrary<Row> = fc.record({
  name: fc.option(word),
  steps: fc.option(fc.constantFrom(0, 1, -1, 5, 7, 1000, 1767225600)),
  at: fc.option(instant, { freq: 6 }),
  payload: jsonPayload,
})

const path = fc
  .tuple(fc.array(fc.constantFrom(...KEYS, '2', '007'), { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([keys, isBare]) => pathOf(['payload', ...keys], isBare))
const field = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('name', 'steps', 'at', 'payload') },
  { weight: 4, arbitrary: path },
  { weight: 3, arbitrary: fc.constantFrom(...KEYS).map((key) => pathOf(['payload', key], false)) },
)

export const literal = fc.oneof(
  { weight: 8, arbitrary: scalar },
  { weight: 1, arbitrary: fc.constantFrom<Json>([], {}, [1, 'a'], { a: 1 }) },
)

/** Operations over some fields, with literals of any kind and some more. */
export const operationsOver = (field: fc.Arbitrary<string>, literal: fc.Arbitrary<Json>) =>
  fc.letrec<{ operand: Operand; operation: Operation; pair: readonly [Operand, Operand] }>((tie) => ({
    operand: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 5, arbitrary: literal.map(($literal): Operand => ({ $literal })) },
      { weight: 6, arbitrary: field.map(($getField): Operand => ({ $getField })) },
      {
        weight: 2,
        arbitrary: fc
          .record({ input: tie('operand'), to: fc.constantFrom(...CONVERT_TO) })
          .map(($convert): Operand => ({ $convert })),
      },
      { weight: 2, arbitrary: tie('operation') },
    ),
    pair: fc.tuple(tie('operand'), tie('operand')),
    operation: fc.oneof(
      { maxDepth: 5 },
      fc
        .constantFrom('$eq', '$gt', '$gte', '$lt', '$lte')
        .chain((key) => tie('pair').map((pair) => ({ [key]: pair }) as unknown as Operation)),
      fc
        .record({ input: tie('operand'), substr: tie('operand'), case_insensitive: fc.boolean() })
        .chain((spec) => fc.constantFrom<Operation>({ $contains: spec }, { $containsToken: spec })),
      fc.tuple(tie('operand'), fc.array(tie('operand'), { maxLength: 4 })).map(($in): Operation => ({ $in })),
      fc.array(tie('operand'), { maxLength: 3 }).map(($and): Operation => ({ $and })),
      fc.array(tie('operand'), { maxLength: 3 }).map(($or): Operation => ({ $or })),
      fc.tuple(tie('operand')).map(($not): Operation => ({ $not })),
    ),
  })).operation

export const arbitraryOperation: fc.Arbitrary<Operation> = operationsOver(field, literal)
export const operationOnJson: fc.Arbitrary<Operation> = operationsOver(path, literal)

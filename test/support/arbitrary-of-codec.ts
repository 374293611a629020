import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { decode, type Codec, type JsonSchema } from '../../src/domain/codec/codec.js'
import { isJsonObject, type Json } from '../../src/domain/json/json.js'
import { arbitraryJson, arbitraryJsonObject, troublesomeText } from './arbitrary-json.js'

/**
 * Whatever a codec accepts, found by walking its schema, decoded, and then as the log gives it back. What a schema
 * cannot say (bytes for characters, no control characters) the codec refuses itself.
 */
export const arbitraryOf = <A>(codec: Codec<A>): fc.Arbitrary<A> =>
  inputFor(codec.schema)
    .map((input) => decode(codec)(input))
    .filter(E.isRight)
    .map(({ right }) => JSON.parse(JSON.stringify(right)) as A)

const inputFor = (schema: JsonSchema): fc.Arbitrary<unknown> => {
  const either = schemas(schema['anyOf'] ?? schema['oneOf'])
  if (either !== undefined) return fc.oneof(...either.map(inputFor))
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as Json[]))
  switch (schema['type']) {
    case undefined:
      return arbitraryJson
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return textFor(schema)
    case 'integer':
      return integerFor(schema)
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'array':
      return listOf(inputFor(schema['items'] as JsonSchema))
    case 'object':
      return objectFor(schema)
    default:
      throw new Error(`no arbitrary for the schema ${JSON.stringify(schema)}`)
  }
}

const schemas = (value: Json | undefined): readonly JsonSchema[] | undefined =>
  Array.isArray(value) ? (value as JsonSchema[]) : undefined

const textFor = ({ format, pattern, minLength, maxLength }: JsonSchema): fc.Arbitrary<string> => {
  if (format === 'date-time') return instantText
  if (typeof pattern === 'string' && minLength === undefined)
    return fc.stringMatching(withoutLookahead(pattern))
  const any = troublesomeText(typeof maxLength === 'number' ? { maxLength } : {})
  return minLength === 1 ? any.map(asId) : any
}

/** Look-aheads, which narrow a pattern, are left to the codec. */
const withoutLookahead = (pattern: string): RegExp => new RegExp(pattern.replaceAll(/\(\?[=!][^)]*\)/g, ''))

/** The strings of at least one character are ids, which have no control characters. */
const asId = (text: string): string => text.replaceAll(/\p{Cc}/gu, '') || 'id'

const EDGES = [
  '1900-01-01T00:00:00.000000Z',
  '1900-01-01T00:00:00.000001Z',
  '1969-12-31T23:59:59.999999Z',
  '1970-01-01T00:00:00.000000Z',
  '2024-02-29T12:00:00.123456+05:30',
  '2038-01-19T03:14:08.000001Z',
  '2299-12-31T23:59:59.999999Z',
]

export const instantText = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...EDGES) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.date({ min: new Date('1900-01-01'), max: new Date('2299-12-31'), noInvalidDate: true }),
        fc.integer({ min: 0, max: 999 }),
      )
      .map(([date, micros]) => `${date.toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`),
  },
)

/** Doubles that are integers, with the extremes of 64 bits and of exactness. */
const integerFor = ({ minimum, maximum }: JsonSchema): fc.Arbitrary<number> => {
  const least = typeof minimum === 'number' ? minimum : -(2 ** 63)
  const most = typeof maximum === 'number' ? maximum : mostAbove(least)
  const edges = [least, most, 0, 1, -1, 2 ** 53, -(2 ** 53), 1e15].filter((n) => n >= least && n <= most)
  return fc.oneof(
    fc.constantFrom(...edges),
    fc.integer({ min: Math.max(least, -(2 ** 31)), max: Math.min(most, 2 ** 31 - 1) }),
    fc.maxSafeInteger().filter((n) => n >= least && n <= most),
  )
}

/** A schema leaves out a bound that is no exact integer: that of 64 bits, that of exactness, or the least's opposite. */
const mostAbove = (least: number): number =>
  least === -(2 ** 63) ? 2 ** 63 - 1024 : least < 0 ? -least : Number.MAX_SAFE_INTEGER

const listOf = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.array(item, { maxLength: 5 }) },
    { weight: 1, arbitrary: item.map((one) => Array.from({ length: isSmall(one) ? 1000 : 3 }, () => one)) },
  )

const isSmall = (item: unknown): boolean => JSON.stringify(item).length < 1000

const objectFor = ({ properties, required, additionalProperties }: JsonSchema): fc.Arbitrary<unknown> => {
  if (!isJsonObject(properties))
    return isJsonObject(additionalProperties)
      ? fc.dictionary(troublesomeText(), inputFor(additionalProperties), { maxKeys: 3 })
      : arbitraryJsonObject
  const members = Object.entries(properties).map(
    ([key, schema]) => [key, inputFor(schema as JsonSchema)] as const,
  )
  return fc.record(Object.fromEntries(members), { requiredKeys: (required ?? []) as string[] })
}

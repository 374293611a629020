import fc from 'fast-check'
import { isJsonObject, type Json, type JsonObject } from '../../src/kernel/json/json.js'
import { troublesomeText } from './arbitrary-json.js'

interface Means {
  /** For what a schema leaves open. */
  readonly json: fc.Arbitrary<unknown>
  readonly jsonObject: fc.Arbitrary<unknown>
  /** The length of the rare long list. */
  readonly longList: number
  /** The schemas that `$ref` names. */
  readonly components?: JsonObject
  /** What makes sense under a key of an object, mostly taken instead of what its schema allows. */
  readonly known?: (key: string, schema: Schema) => fc.Arbitrary<unknown> | undefined
}

type Schema = JsonObject

const MAX_REFS = 6

/** Whatever a JSON Schema allows; what refers to itself ends after a few rounds. */
export const arbitraryOfSchema = (schema: Schema, means: Means): fc.Arbitrary<unknown> => {
  const made = new Map<string, fc.Arbitrary<unknown>>()

  const referred = (ref: string, left: number): fc.Arbitrary<unknown> => {
    const name = ref.split('/').at(-1)!
    const known = made.get(`${name} ${left}`)
    if (known !== undefined) return known
    const one = of(means.components?.[name] as Schema, left)
    made.set(`${name} ${left}`, one)
    return one
  }

  const of = (one: Schema, left: number, key?: string): fc.Arbitrary<unknown> => {
    const { $ref, type } = one
    const known = key === undefined || isCompound(one) ? undefined : means.known?.(key, one)
    if (known !== undefined)
      return fc.oneof({ weight: 8, arbitrary: known }, { weight: 1, arbitrary: of(one, left) })
    if (typeof $ref === 'string') return left === 0 ? means.json : referred($ref, left - 1)
    const either = schemas(one['anyOf'] ?? one['oneOf'])
    if (either !== undefined)
      return fc.oneof(...endingWhere(left === 0, either).map((each) => of(each, left, key)))
    if (Array.isArray(one['enum'])) return fc.constantFrom(...(one['enum'] as Json[]))
    switch (type) {
      case undefined:
        return means.json
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      case 'string':
        return textFor(one)
      case 'integer':
        return integerFor(one)
      case 'number':
        return fc.double({ noNaN: true, noDefaultInfinity: true })
      case 'array':
        return listOf(one, left, key)
      case 'object':
        return objectOf(one, left)
      default:
        throw new Error(`no arbitrary for the schema ${JSON.stringify(one)}`)
    }
  }

  const listOf = ({ prefixItems, items }: Schema, left: number, key?: string): fc.Arbitrary<unknown> => {
    const first = schemas(prefixItems)
    if (first !== undefined) return fc.tuple(...first.map((one) => of(one, left)))
    const item = of((items ?? {}) as Schema, left, key)
    const long = (one: unknown) => Array.from({ length: isSmall(one) ? means.longList : 3 }, () => one)
    return fc.oneof(
      { weight: 12, arbitrary: fc.array(item, { maxLength: 5 }) },
      { weight: 1, arbitrary: item.map(long) },
    )
  }

  const objectOf = (
    { properties, required, additionalProperties }: Schema,
    left: number,
  ): fc.Arbitrary<unknown> => {
    if (!isJsonObject(properties))
      return isJsonObject(additionalProperties)
        ? fc.dictionary(troublesomeText(), of(additionalProperties, left), { maxKeys: 3 })
        : means.jsonObject
    const members = Object.entries(properties).map(
      ([key, one]) => [key, of(one as Schema, left, key)] as const,
    )
    const requiredKeys = (required ?? []) as string[]
    const few = members.filter(([key]) => requiredKeys.includes(key))
    return fc.oneof(
      fc.record(Object.fromEntries(few)),
      fc.record(Object.fromEntries(members), { requiredKeys }),
    )
  }

  return of(schema, MAX_REFS)
}

/** What is known under a key is meant for its items or alternatives. */
const isCompound = ({ anyOf, oneOf, type }: Schema): boolean =>
  anyOf !== undefined || oneOf !== undefined || type === 'array' || type === 'null'

const schemas = (value: Json | undefined): readonly Schema[] | undefined =>
  Array.isArray(value) ? (value as Schema[]) : undefined

/** Where no more may be referred to, the alternatives that refer to nothing. */
const endingWhere = (atEnd: boolean, either: readonly Schema[]): readonly Schema[] => {
  const ending = atEnd ? either.filter((one) => !JSON.stringify(one).includes('"$ref"')) : either
  return ending.length === 0 ? either : ending
}

const textFor = ({ format, pattern, minLength, maxLength }: Schema): fc.Arbitrary<string> => {
  if (format === 'date-time') return instantText
  if (typeof pattern === 'string') return textMatching(pattern)
  const any = troublesomeText(typeof maxLength === 'number' ? { maxLength } : {})
  return minLength === 1 ? any.map(asId) : any
}

const matching = new Map<string, fc.Arbitrary<string>>()

/** One generator a pattern: each keeps a table of all characters that it may use. */
const textMatching = (pattern: string): fc.Arbitrary<string> => {
  let known = matching.get(pattern)
  if (known === undefined) matching.set(pattern, (known = fc.stringMatching(generated(pattern))))
  return known
}

/**
 * Look-aheads, which narrow a pattern, are left to the codec; classes are written out, so that the characters to choose
 * from are those of the first plane, and not more than a million.
 */
const generated = (pattern: string): RegExp =>
  new RegExp(
    pattern
      .replaceAll(/\(\?[=!](?:[^()]|\([^()]*\))*\)/g, '')
      .replaceAll('\\P{Cc}', String.raw`[^\x00-\x1f\x7f-\x9f]`)
      .replaceAll('\\p{Cc}', String.raw`\x00-\x1f\x7f-\x9f`),
  )

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

const instantText = fc.oneof(
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
const integerFor = ({ minimum, maximum }: Schema): fc.Arbitrary<number> => {
  const least = typeof minimum === 'number' ? minimum : -(2 ** 63)
  const most = typeof maximum === 'number' ? maximum : mostAbove(least)
  const edges = [least, most, 0, 1, -1, 2 ** 53, -(2 ** 53), 1e15].filter((n) => n >= least && n <= most)
  return fc.oneof(
    fc.constantFrom(...edges),
    fc.integer({ min: Math.max(least, -(2 ** 31)), max: Math.min(most, 2 ** 31 - 1) }),
    fc.integer({
      min: Math.max(least, Number.MIN_SAFE_INTEGER),
      max: Math.min(most, Number.MAX_SAFE_INTEGER),
    }),
  )
}

/** A schema leaves out a bound that is no exact integer: that of 64 bits, that of exactness, or the least's opposite. */
const mostAbove = (least: number): number =>
  least === -(2 ** 63) ? 2 ** 63 - 1024 : least < 0 ? -least : Number.MAX_SAFE_INTEGER

const isSmall = (item: unknown): boolean => JSON.stringify(item ?? null).length < 1000

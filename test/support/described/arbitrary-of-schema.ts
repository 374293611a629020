import fc from 'fast-check'
import { isJsonObject, type Json, type JsonObject } from '../../../src/domain/json/json.js'
import { arbitraryJson, arbitraryJsonObject, troublesomeText } from '../arbitrary-json.js'
import { instantText } from '../arbitrary-of-codec.js'

export type Schemas = Readonly<Record<string, JsonObject>>

/** Values that make sense under a key, known from elsewhere; undefined where there are none. */
export type Known = (key: string) => fc.Arbitrary<string> | undefined

/** Deeper than this, what need not be there is not. */
const DEEP = 8

/**
 * JSON that a schema of the description allows. Text prefers what is known under its key; what a schema cannot say (a
 * length in bytes) the service may still refuse.
 */
export const arbitraryOfSchema = (schemas: Schemas, known: Known) => {
  const memory = new Map<string, fc.Arbitrary<Json>>()

  const referred = (ref: string, key: string, depth: number): fc.Arbitrary<Json> => {
    const name = ref.slice(ref.lastIndexOf('/') + 1)
    const place = `${name} ${key} ${depth}`
    const made = memory.get(place) ?? value(schemas[name]!, key, depth + 1)
    memory.set(place, made)
    return made
  }

  const value = (schema: JsonObject, key = '', depth = 0): fc.Arbitrary<Json> => {
    if (typeof schema['$ref'] === 'string') return referred(schema['$ref'], key, depth)
    const either = (schema['anyOf'] ?? schema['oneOf']) as readonly JsonObject[] | undefined
    if (either !== undefined) return eitherOf(either, key, depth)
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as Json[]))
    if (Array.isArray(schema['examples']))
      return fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom(...(schema['examples'] as Json[])) },
        plain(schema, key, depth),
      )
    return plain(schema, key, depth)
  }

  const plain = (schema: JsonObject, key: string, depth: number): fc.Arbitrary<Json> => {
    if (schema['const'] !== undefined) return fc.constant(schema['const'])
    const { type } = schema
    if (Array.isArray(type))
      return eitherOf(
        type.map((one) => ({ ...schema, type: one as string })),
        key,
        depth,
      )
    return ofType(typeof type === 'string' ? type : undefined, schema, key, depth)
  }

  const eitherOf = (either: readonly JsonObject[], key: string, depth: number): fc.Arbitrary<Json> => {
    const possible = depth < DEEP ? either : either.slice(-1)
    return fc.oneof(
      ...possible.map((one) => ({
        weight: one['type'] === 'null' ? 1 : 3,
        arbitrary: value(one, key, depth),
      })),
    )
  }

  const ofType = (type: string | undefined, schema: JsonObject, key: string, depth: number) => {
    switch (type) {
      case 'null':
        return fc.constant(null)
      case 'boolean':
        return fc.boolean()
      case 'integer':
        return integer(schema)
      case 'number':
        return fc.double({ noNaN: true, noDefaultInfinity: true })
      case 'string':
        return text(schema, key)
      case 'array':
        return list(schema, key, depth)
      case 'object':
        return object(schema, depth)
      default:
        return fc.oneof({ weight: 4, arbitrary: small }, { weight: 1, arbitrary: arbitraryJson })
    }
  }

  const text = (schema: JsonObject, key: string): fc.Arbitrary<string> => {
    const usual = ownText(schema)
    const made = schema['format'] === undefined ? known(key) : undefined
    return made === undefined
      ? usual
      : fc.oneof({ weight: 6, arbitrary: made }, { weight: 1, arbitrary: usual })
  }

  const list = (
    { items, minItems, maxItems }: JsonObject,
    key: string,
    depth: number,
  ): fc.Arbitrary<Json> => {
    const least = typeof minItems === 'number' ? minItems : 0
    const most = Math.min(typeof maxItems === 'number' ? maxItems : 6, 6)
    return fc.array(value(isJsonObject(items) ? items : {}, singular(key), depth + 1), {
      minLength: least,
      maxLength: depth < DEEP ? Math.max(least, most) : least,
    })
  }

  const object = (schema: JsonObject, depth: number): fc.Arbitrary<Json> => {
    const { properties, required, additionalProperties } = schema
    const members = Object.entries(isJsonObject(properties) ? properties : {})
    const needed = (required ?? []) as readonly string[]
    const kept = depth < DEEP ? members : members.filter(([key]) => needed.includes(key))
    const arbitraries = kept.map(([key, of]) => [key, value(of as JsonObject, key, depth + 1)] as const)
    const described = objectWith(arbitraries, needed)
    if (members.length > 0 || additionalProperties === false) return described
    return isJsonObject(additionalProperties)
      ? fc.dictionary(shortText, value(additionalProperties, '', depth + 1), { maxKeys: 3 })
      : fc.oneof({ weight: 4, arbitrary: smallObject }, { weight: 1, arbitrary: arbitraryJsonObject })
  }

  return value
}

/** Sometimes with everything that may be there, mostly with little of it: one option may forbid another. */
const objectWith = (
  members: readonly (readonly [string, fc.Arbitrary<Json>])[],
  required: readonly string[],
): fc.Arbitrary<JsonObject> => {
  const must = members.filter(([key]) => required.includes(key))
  const may = members.filter(([key]) => !required.includes(key))
  const some = fc.oneof(
    { weight: 3, arbitrary: fc.subarray([...may], { maxLength: Math.min(may.length, 2) }) },
    { weight: 1, arbitrary: fc.subarray([...may]) },
  )
  return some.chain((chosen) => {
    const record: Record<string, fc.Arbitrary<Json>> = Object.fromEntries([...must, ...chosen])
    return fc.record(record).map((made): JsonObject => ({ ...made }))
  })
}

export const singular = (key: string): string => key.replace(/s$/, '')

const shortText = fc.string({ maxLength: 12 })

const scalar = fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), shortText)
const smallObject: fc.Arbitrary<JsonObject> = fc.dictionary(shortText, scalar, { maxKeys: 3 })
const small: fc.Arbitrary<Json> = fc.oneof(scalar, smallObject, fc.array(scalar, { maxLength: 3 }))

/** Mostly small, sometimes at an edge of what is allowed or of what a double holds exactly. */
const integer = ({ minimum, maximum }: JsonObject): fc.Arbitrary<number> => {
  const least = typeof minimum === 'number' ? minimum : -(2 ** 63)
  const most = typeof maximum === 'number' ? maximum : 2 ** 63 - 1024
  const near = least <= 0 && most >= 0 ? 0 : least
  return fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: Math.max(least, near - 20), max: Math.min(most, near + 20) }) },
    { weight: 1, arbitrary: fc.constantFrom(least, most) },
    { weight: 1, arbitrary: fc.maxSafeInteger().map((one) => Math.min(Math.max(one, least), most)) },
  )
}

const ownText = ({ format, pattern, minLength, maxLength }: JsonObject): fc.Arbitrary<string> => {
  if (format === 'date-time') return instantText
  if (format === 'uuid') return fc.uuid()
  if (typeof pattern === 'string')
    return fc.stringMatching(new RegExp(pattern.replaceAll(/\(\?[=!][^)]*\)/g, '')))
  const most = typeof maxLength === 'number' ? maxLength : 40
  const least = typeof minLength === 'number' ? minLength : 0
  return fc.oneof(
    { weight: 3, arbitrary: fc.string({ minLength: least, maxLength: Math.max(least, Math.min(most, 24)) }) },
    {
      weight: 1,
      arbitrary: troublesomeText({ maxLength: most }).map((one) =>
        one.length >= least ? one : 'x'.repeat(least),
      ),
    },
  )
}

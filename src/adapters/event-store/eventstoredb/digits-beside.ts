import { digitsIn, holdsDigits, rememberDigits } from '../../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'

/** Of numbers in an event's data: the keys that lead to each, and its digits. */
type DigitsBeside = readonly (readonly [way: readonly string[], digits: string])[]

/** Where they stand in an event's metadata: the client writes data itself, and its numbers as doubles. */
const KEY = 'digits'

export const metadataBeside = (data: JsonObject, metadata: string): string =>
  holdsDigits(data)
    ? JSON.stringify({ ...(JSON.parse(metadata) as JsonObject), [KEY]: [...digitsOf(data, [])] })
    : metadata

function* digitsOf(value: Json, way: readonly string[]): Generator<DigitsBeside[number]> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries<Json>(value as Readonly<Record<string, Json>>)) {
    const digits = digitsIn(value, key)
    if (digits === undefined) yield* digitsOf(member, [...way, key])
    else yield [[...way, key], digits]
  }
}

/** The metadata as it was before, while the data has its digits back. */
export const takeDigits = (data: JsonObject, { [KEY]: beside, ...metadata }: JsonObject): JsonObject => {
  for (const one of Array.isArray(beside) ? (beside as readonly Json[]) : [])
    if (isBeside(one)) giveBack(data, one)
  return metadata
}

const isBeside = (one: Json): one is DigitsBeside[number] & Json =>
  Array.isArray(one) && Array.isArray(one[0]) && typeof one[1] === 'string'

const giveBack = (data: Json, [way, digits]: DigitsBeside[number]): void => {
  const last = way.at(-1)
  let holder: Json | undefined = data
  for (const key of way.slice(0, -1)) holder = memberOf(holder, key)
  if (last !== undefined && memberOf(holder, last) === Number(digits))
    rememberDigits(holder as object, last, digits)
}

const memberOf = (holder: Json | undefined, key: string): Json | undefined =>
  (isJsonObject(holder) || Array.isArray(holder)) && Object.hasOwn(holder, key)
    ? (holder as Readonly<Record<string, Json>>)[key]
    : undefined

import { listIndex } from '../../domain/query/field-path.js'
import type { Parameters } from './parameters.js'
import { mayBeWide, readableJson } from './readable-json.js'

/** A place in JSON: the SQL of a JSON text, and the keys within it as further arguments of a function. */
export interface JsonPlace {
  readonly base: string
  readonly keys: string
  /** SQL that is true if the text may have integers of more than 64 bits. */
  readonly isWide: string
  /** SQL of the JSON that has the value instead because a key has dots; empty if it is at the place itself. */
  readonly instead?: string
}

interface JsonColumn {
  readonly sql: string
  /** See {@link JsonPlace}. By default the text is searched. */
  readonly isWide?: string | undefined
}

/**
 * The place at a path. A part of digits is an index of a list, and otherwise a key; ClickHouse would read a number as the
 * index of an object's member. Neighbouring parts may be one key with dots, see `memberAt`.
 */
export const jsonAt = (
  { sql, isWide = mayBeWide(sql) }: JsonColumn,
  path: readonly string[],
  parameters: Parameters,
): JsonPlace => {
  let base = sql
  let keys = ''
  for (const part of path) {
    const key = parameters.text(part)
    const index = listIndex(part)
    if (index === undefined) {
      keys += `, ${key}`
      continue
    }
    const item = `if(JSONType(j) = 'Array', JSONExtractArrayRaw(j)[${index + 1}], JSONExtractRaw(j, ${key}))`
    const within = keys === '' ? `ifNull(${base}, '')` : partAt({ base, keys, isWide })
    base = readableAgain(`arrayMap(j -> ${item}, [${within}])[1]`, isWide)
    keys = ''
  }
  const nested = { base, keys, isWide }
  return path.length < 2 ? nested : { ...nested, instead: insteadOf(nested, sql, path, parameters) }
}

/**
 * Other readings are only tried where the nested one has no value, and the text has two neighbouring parts with a dot
 * between them: searching it costs a fraction of parsing it.
 */
const insteadOf = (
  nested: JsonPlace,
  sql: string,
  path: readonly string[],
  parameters: Parameters,
): string => {
  const pairs = path.slice(1).map((part, before) => JSON.stringify(`${path[before]!}.${part}`).slice(1, -1))
  const mayHaveDots =
    pairs.length === 1
      ? `position(${sql}, ${parameters.text(pairs[0]!)}) > 0`
      : `multiSearchAny(${sql}, ${parameters.texts([...new Set(pairs)])})`
  const texts = `[ifNull(if(${nestedString(nested)} = '' AND ${mayHaveDots}, ${sql}, ''), '')]`
  const found = firstReading('t', nested.isWide, parameters.texts(path))
  // A lambda over no items costs nothing, but `if` would compute both of its sides for every row.
  return `arrayMap(t -> ${found}, arrayFilter(t -> t != '', ${texts}))[1]`
}

/**
 * The JSON at a path as `memberAt` reads it, else an empty text. A state is the JSON that was reached, and the parts
 * since, with a dot after each, if they begin one of its keys.
 */
const firstReading = (text: string, isWide: string, parts: string): string => {
  const item = `if(s.2 = '' AND match(p, '^[0-9]{1,9}$') AND JSONType(s.1) = 'Array',
      JSONExtractArrayRaw(s.1)[toUInt32OrZero(p) + 1], JSONExtractRaw(s.1, concat(s.2, p)))`
  const begins = `arrayExists(k -> startsWith(k, concat(s.2, p, '.')), JSONExtractKeys(s.1))`
  const next = `arrayMap(s -> [(${readableAgain(item, isWide)}, ''), (if(${begins}, s.1, ''), concat(s.2, p, '.'))], states)`
  const last = `arrayFold((states, p) -> arrayFilter(s -> s.1 != '', arrayFlatten(${next})), ${parts}, [(${text}, '')])`
  const first = (condition: string) => `arrayFirst(s -> s.2 = '' ${condition}, f).1`
  return `arrayMap(f -> if(${first(WITH_VALUE)} != '', ${first(WITH_VALUE)}, ${first('')}), [${last}])[1]`
}

const WITH_VALUE = `AND s.1 NOT IN ('null', '""')`

/** A string as it is, anything else as JSON; NULL for a missing value, null and the empty string. */
export const textAt = (place: JsonPlace): string => `nullIf(${stringAt(place)}, '')`

/**
 * The same, but empty instead of NULL. There is a value `instead` only if there is none at the place. No `if` selects one,
 * because ClickHouse then computes all branches that the JSON depends on, and takes 18 times as long.
 */
export const stringAt = (place: JsonPlace): string => {
  const nested = nestedString(place)
  return place.instead === undefined ? nested : `concat(${nested}, JSONExtractString(${place.instead}))`
}

const nestedString = ({ base, keys }: JsonPlace): string => `JSONExtractString(${base}${keys})`

export const existsAt = ({ base, keys, instead }: JsonPlace): string => {
  const nested = `ifNull(JSONType(${base}${keys}) != 'Null', false)`
  return instead === undefined ? nested : `(${nested} + (JSONType(${instead}) != 'Null') > 0)`
}

/** The JSON at a place, readable by further functions; empty if it is missing. */
export const partAt = ({ base, keys, isWide, instead }: JsonPlace): string => {
  const nested = `ifNull(JSONExtractRaw(${base}${keys}), '')`
  const part = instead === undefined ? nested : `arrayFirst(j -> j != '', [${instead}, ${nested}])`
  return readableAgain(part, isWide)
}

/** ClickHouse formats extracted JSON again, and drops the fraction `.0` that makes wide integers readable. */
const readableAgain = (part: string, isWide: string): string =>
  `arrayMap(r -> ${readableJson('r', isWide)}, [${part}])[1]`

/** The texts of a list's items, or an array of one text for any other value; with empty ones if there is no value. */
export const textsAt = ({ base, keys, isWide, instead }: JsonPlace): string => {
  const nested = textsOf(`ifNull(${base}, '')`, keys, isWide)
  return instead === undefined ? nested : `arrayConcat(${nested}, ${textsOf(instead, '', isWide)})`
}

const textsOf = (json: string, keys: string, isWide: string): string =>
  `arrayMap(b -> if(JSONType(b${keys}) = 'Array',
    arrayMap(i -> JSONExtractString(${readableJson('i', isWide)}), JSONExtractArrayRaw(b${keys})),
    [JSONExtractString(b${keys})]), [${json}])[1]`

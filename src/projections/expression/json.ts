import { listIndex } from '../../domain/query/field-path.js'
import { joined, raw, sql, type Sql } from '../sql.js'
import { readableJson } from './readable-json.js'

/** A place in JSON: the SQL of a JSON text, and the keys within it as further arguments of a function. */
export interface JsonPlace {
  readonly base: Sql
  readonly keys: Sql
  /** SQL that is true if the text may have integers of more than 64 bits. */
  readonly isWide: string
  /** SQL of the JSON that has the value instead because a key has dots; empty if it is at the place itself. */
  readonly instead?: Sql
}

/**
 * The place at a path. A part of digits is an index of a list, and otherwise a key; ClickHouse would read a number as the
 * index of an object's member. Neighbouring parts may be one key with dots, see `memberAt`.
 */
export const jsonAt = (column: Sql, isWide: string, path: readonly string[]): JsonPlace => {
  let base = column
  let keys = sql``
  for (const part of path) {
    const index = listIndex(part)
    if (index === undefined) {
      keys = sql`${keys}, ${part}`
      continue
    }
    const item = sql`if(JSONType(j) = 'Array', JSONExtractArrayRaw(j)[${raw(String(index + 1))}], JSONExtractRaw(j, ${part}))`
    const within = keys.text === '' ? sql`ifNull(${base}, '')` : partAt({ base, keys, isWide })
    base = readableAgain(sql`arrayMap(j -> ${item}, [${within}])[1]`, isWide)
    keys = sql``
  }
  const nested = { base, keys, isWide }
  return path.length < 2 ? nested : { ...nested, instead: insteadOf(nested, column, path) }
}

/**
 * Other readings are only tried where the nested one has no value, and the text has two neighbouring parts with a dot
 * between them: searching it costs a fraction of parsing it.
 */
const insteadOf = (nested: JsonPlace, column: Sql, path: readonly string[]): Sql => {
  const pairs = path.slice(1).map((part, before) => JSON.stringify(`${path[before]!}.${part}`).slice(1, -1))
  const mayHaveDots =
    pairs.length === 1
      ? sql`position(${column}, ${pairs[0]!}) > 0`
      : sql`multiSearchAny(${column}, ${[...new Set(pairs)]})`
  const texts = sql`[ifNull(if(${nestedString(nested)} = '' AND ${mayHaveDots}, ${column}, ''), '')]`
  // A lambda over no items costs nothing, but `if` would compute both of its sides for every row.
  return sql`arrayMap(t -> ${firstReading(nested.isWide, path)}, arrayFilter(t -> t != '', ${texts}))[1]`
}

/**
 * The JSON at a path of the text `t` as `memberAt` reads it, else an empty text. A state is the JSON that was reached, and
 * the parts since, with a dot after each, if they begin one of its keys.
 */
const firstReading = (isWide: string, path: readonly string[]): Sql => {
  const item = sql`if(s.2 = '' AND match(p, '^[0-9]{1,9}$') AND JSONType(s.1) = 'Array',
      JSONExtractArrayRaw(s.1)[toUInt32OrZero(p) + 1], JSONExtractRaw(s.1, concat(s.2, p)))`
  const begins = sql`arrayExists(k -> startsWith(k, concat(s.2, p, '.')), JSONExtractKeys(s.1))`
  const next = sql`arrayMap(s -> [(${readableAgain(item, isWide)}, ''), (if(${begins}, s.1, ''), concat(s.2, p, '.'))], states)`
  const last = sql`arrayFold((states, p) -> arrayFilter(s -> s.1 != '', arrayFlatten(${next})), ${path}, [(t, '')])`
  const first = (condition: Sql) => sql`arrayFirst(s -> s.2 = '' ${condition}, f).1`
  const withValue = first(sql`AND s.1 NOT IN ('null', '""')`)
  return sql`arrayMap(f -> if(${withValue} != '', ${withValue}, ${first(sql``)}), [${last}])[1]`
}

/**
 * The text at a path of keys, as {@link textAt} reads it, for short paths without indexes: the engine analyses the statement in a
 * fraction of the time.
 */
export const textAtShort = (column: Sql, path: readonly string[]): Sql =>
  sql`coalesce(${joined(readingsOf(path).map((keys) => textAt({ base: column, keys: sql`, ${joined(keys.map((key) => sql`${key}`))}`, isWide: '0' })))})`

/** The keys that a path may mean, in the order of the shorter first key: neighbouring parts may be one key with dots. */
const readingsOf = (path: readonly string[]): readonly (readonly string[])[] =>
  path.flatMap((_, at) => {
    const first = path.slice(0, at + 1).join('.')
    const rest = path.slice(at + 1)
    return rest.length === 0 ? [[first]] : readingsOf(rest).map((keys) => [first, ...keys])
  })

/** The text at a list of keys that the statement itself reads, or at all of them as one key with dots; NULL for an empty list. */
export const textAtKeys = (column: Sql, keys: Sql): Sql => {
  const nested = sql`arrayFold((j, k) -> JSONExtractRaw(j, k), ${keys}, ifNull(${column}, ''))`
  const dotted = sql`JSONExtractString(${column}, arrayStringConcat(${keys}, '.'))`
  return sql`if(empty(${keys}), NULL, coalesce(nullIf(JSONExtractString(${nested}), ''), nullIf(${dotted}, '')))`
}

/** A string as it is, anything else as JSON; NULL for a missing value, null and the empty string. */
export const textAt = (place: JsonPlace): Sql => sql`nullIf(${stringAt(place)}, '')`

/**
 * The same, but empty instead of NULL. There is a value `instead` only if there is none at the place. No `if` selects one,
 * because ClickHouse then computes all branches that the JSON depends on, and takes 18 times as long.
 */
export const stringAt = (place: JsonPlace): Sql => {
  const nested = nestedString(place)
  return place.instead === undefined ? nested : sql`concat(${nested}, JSONExtractString(${place.instead}))`
}

const nestedString = ({ base, keys }: JsonPlace): Sql => sql`JSONExtractString(${base}${keys})`

export const existsAt = ({ base, keys, instead }: JsonPlace): Sql => {
  const nested = sql`ifNull(JSONType(${base}${keys}) != 'Null', false)`
  return instead === undefined ? nested : sql`(${nested} + (JSONType(${instead}) != 'Null') > 0)`
}

/** The JSON at a place, readable by further functions; empty if it is missing. */
export const partAt = ({ base, keys, isWide, instead }: JsonPlace): Sql => {
  const nested = sql`ifNull(JSONExtractRaw(${base}${keys}), '')`
  const part = instead === undefined ? nested : sql`arrayFirst(j -> j != '', [${instead}, ${nested}])`
  return readableAgain(part, isWide)
}

/** ClickHouse formats extracted JSON again, and drops the fraction `.0` that makes wide integers readable. */
const readableAgain = (part: Sql, isWide: string): Sql =>
  sql`arrayMap(r -> ${raw(readableJson('r', isWide))}, [${part}])[1]`

/** The texts of a list's items, or an array of one text for any other value; with empty ones if there is no value. */
export const textsAt = ({ base, keys, isWide, instead }: JsonPlace): Sql => {
  const nested = textsOf(sql`ifNull(${base}, '')`, keys, isWide)
  return instead === undefined ? nested : sql`arrayConcat(${nested}, ${textsOf(instead, sql``, isWide)})`
}

const textsOf = (json: Sql, keys: Sql, isWide: string): Sql =>
  sql`arrayMap(b -> if(JSONType(b${keys}) = 'Array',
    arrayMap(i -> JSONExtractString(${raw(readableJson('i', isWide))}), JSONExtractArrayRaw(b${keys})),
    [JSONExtractString(b${keys})]), [${json}])[1]`

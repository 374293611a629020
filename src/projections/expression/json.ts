import { listIndex } from '../../domain/query/field-path.js'
import type { Parameters } from './parameters.js'
import { mayBeWide, readableJson } from './readable-json.js'

/** A place in JSON: the SQL of a JSON text, and the keys within it as further arguments of a function. */
export interface JsonPlace {
  readonly base: string
  readonly keys: string
  /** SQL that is true if the text may have integers of more than 64 bits. */
  readonly isWide: string
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
  let base = path.length < 2 ? sql : nestedAlong(sql, isWide, path, parameters)
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
  return { base, keys, isWide }
}

/**
 * JSON whose value at a path is nested key by key. Only a text that has two neighbouring parts of the path with a dot
 * between them may have a key with dots, and searching it costs a fraction of parsing it.
 */
const nestedAlong = (
  sql: string,
  isWide: string,
  path: readonly string[],
  parameters: Parameters,
): string => {
  const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
  const pairs = [...new Set(path.slice(1).map((part, before) => escaped(`${path[before]!}.${part}`)))]
  const mayHaveDots =
    pairs.length === 1
      ? `position(${sql}, ${parameters.text(pairs[0]!)}) > 0`
      : `multiSearchAny(${sql}, ${parameters.texts(pairs)})`
  const opening = parameters.text(path.map((part) => `{${JSON.stringify(part)}:`).join(''))
  const found = firstReading(`ifNull(${sql}, '')`, isWide, parameters.texts(path))
  return `if(${mayHaveDots}, concat(${opening}, ${found}, repeat('}', ${path.length})), ${sql})`
}

/**
 * The JSON at a path by the first of its readings that exists, else an empty text. A state is an object that was reached,
 * and the parts since, if they begin one of its keys.
 */
const firstReading = (text: string, isWide: string, parts: string): string => {
  const item = `if(s.2 = '' AND match(p, '^[0-9]{1,9}$') AND JSONType(s.1) = 'Array',
      JSONExtractArrayRaw(s.1)[toUInt32OrZero(p) + 1], JSONExtractRaw(s.1, concat(s.2, p)))`
  const begins = `arrayExists(k -> startsWith(k, concat(s.2, p, '.')), JSONExtractKeys(s.1))`
  const next = `arrayMap(s -> [(${readableAgain(item, isWide)}, ''), (if(${begins}, s.1, ''), concat(s.2, p, '.'))], states)`
  const last = `arrayFold((states, p) -> arrayFilter(s -> s.1 != '', arrayFlatten(${next})), ${parts}, [(${text}, '')])`
  return `arrayFirst(s -> s.2 = '', ${last}).1`
}

/** A string as it is, anything else as JSON; NULL for a missing value, null and the empty string. */
export const textAt = (place: JsonPlace): string => `nullIf(${stringAt(place)}, '')`

/** The same, but empty instead of NULL. */
export const stringAt = ({ base, keys }: JsonPlace): string => `JSONExtractString(${base}${keys})`

export const existsAt = ({ base, keys }: JsonPlace): string =>
  `ifNull(JSONType(${base}${keys}) != 'Null', false)`

/** The JSON at a place, readable by further functions; empty if it is missing. */
export const partAt = ({ base, keys, isWide }: JsonPlace): string =>
  readableAgain(`ifNull(JSONExtractRaw(${base}${keys}), '')`, isWide)

/** ClickHouse formats extracted JSON again, and drops the fraction `.0` that makes wide integers readable. */
const readableAgain = (part: string, isWide: string): string =>
  `arrayMap(r -> ${readableJson('r', isWide)}, [${part}])[1]`

/** The texts of a list's items, or an array of one text for any other value. */
export const textsAt = ({ base, keys, isWide }: JsonPlace): string =>
  `arrayMap(b -> if(JSONType(b${keys}) = 'Array',
    arrayMap(i -> JSONExtractString(${readableJson('i', isWide)}), JSONExtractArrayRaw(b${keys})),
    [JSONExtractString(b${keys})]), [ifNull(${base}, '')])[1]`

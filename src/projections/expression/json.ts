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
 * index of an object's member.
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
  return { base, keys, isWide }
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

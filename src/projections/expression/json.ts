import { listIndex } from '../../domain/query/field-path.js'
import type { Parameters } from './parameters.js'
import { mayBeWide, readableJson } from './readable-json.js'

/** A place in JSON text: some text in SQL, and the keys that lead on from it, as further arguments. */
export interface JsonPlace {
  readonly base: string
  readonly keys: string
  /** Whether integers of more than 64 bits may stand in it, in SQL. */
  readonly isWide: string
}

interface JsonColumn {
  readonly sql: string
  /** See {@link JsonPlace}; where it is not said, the text is looked at. */
  readonly isWide?: string | undefined
}

/**
 * The place that a path leads to. A part in digits is an index where it meets a list, and a key elsewhere; ClickHouse
 * would take a number for a place among an object's members.
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

/** What is there as text: a string as it is, anything else as its JSON; NULL for nothing, null and the empty string. */
export const textAt = (place: JsonPlace): string => `nullIf(${stringAt(place)}, '')`

/** The same, but empty where there is nothing. */
export const stringAt = ({ base, keys }: JsonPlace): string => `JSONExtractString(${base}${keys})`

export const existsAt = ({ base, keys }: JsonPlace): string =>
  `ifNull(JSONType(${base}${keys}) != 'Null', false)`

/** What is there as JSON to be read further; empty for nothing. */
export const partAt = ({ base, keys, isWide }: JsonPlace): string =>
  readableAgain(`ifNull(JSONExtractRaw(${base}${keys}), '')`, isWide)

/** ClickHouse writes a part of JSON anew, and a whole number without its fraction. */
const readableAgain = (part: string, isWide: string): string =>
  `arrayMap(r -> ${readableJson('r', isWide)}, [${part}])[1]`

/** The texts of a list's items, or of what else is there, as an array of one. */
export const textsAt = ({ base, keys, isWide }: JsonPlace): string =>
  `arrayMap(b -> if(JSONType(b${keys}) = 'Array',
    arrayMap(i -> JSONExtractString(${readableJson('i', isWide)}), JSONExtractArrayRaw(b${keys})),
    [JSONExtractString(b${keys})]), [ifNull(${base}, '')])[1]`

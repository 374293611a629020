import type { SortBy } from '../../projections/tables/queries.js'
import { invalidField } from '../failure.js'
import type { TableQuery } from './query-codecs.js'

const MAX_FIELDS = 16
const MAX_KEYS = 64
const MAX_CHARACTERS = 65_536

/** Parses the fields to sort by into paths of keys. */
export const sortFieldsOf = (asked: TableQuery['sort_by']): readonly SortBy[] => {
  if (asked === null) return []
  if (asked.length > MAX_FIELDS)
    throw invalidField(['sort_by'], 'too_long', `List should have at most ${MAX_FIELDS} items`)
  return asked.map(({ field, direction }, i) => {
    const loc = ['sort_by', i, 'field']
    if (field.length > MAX_CHARACTERS)
      throw invalidField(loc, 'string_too_long', `String should have at most ${MAX_CHARACTERS} characters`)
    const path = keysIn(field)
    if (path.length > MAX_KEYS)
      throw invalidField(loc, 'value_error', `Value error, a field should have at most ${MAX_KEYS} keys`)
    return { path, direction }
  })
}

/** `a.b` is the key b in a, `\.` a dot in a key, and `\\` a backslash. */
const keysIn = (field: string): readonly string[] => {
  const keys = ['']
  for (const [part] of field.matchAll(/\\[\\.]|\.|[^\\.]+|\\/g)) {
    if (part === '.') keys.push('')
    else keys.push(keys.pop()! + (part.length === 2 && part.startsWith('\\') ? part.slice(1) : part))
  }
  return keys
}

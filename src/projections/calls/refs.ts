import { isJsonObject, type Json } from '../../domain/json/json.js'

const REF = /^[a-z-]+:\/\/\/./

/**
 * The references (`weave:///entity/project/object/name:digest`) anywhere in a value, one a line with a line break
 * before the first and after the last, so that a whole reference or its beginning can be found; null for none.
 */
export const refsIn = (value: Json): string | null => {
  const found = new Set<string>()
  collect(value, found)
  return found.size === 0 ? null : `\n${[...found].join('\n')}\n`.toWellFormed()
}

const collect = (value: Json, found: Set<string>): void => {
  if (typeof value === 'string') {
    if (value.includes(':///') && REF.test(value) && !value.includes('\n')) found.add(value)
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item as Json, found)
  } else if (isJsonObject(value)) {
    for (const key in value) collect(value[key]!, found)
  }
}

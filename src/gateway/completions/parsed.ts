import type { Json } from '../../kernel/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../kernel/json/measure.js'
import { parseJson } from '../../kernel/json/parse.js'

/** JSON that an upstream wrote, no deeper than a request may be; undefined for anything else. */
export const parsed = (text: string): Json | undefined => {
  try {
    const value = parseJson(text)
    return deeperThan(value, MAX_DEPTH) ? undefined : value
  } catch {
    return undefined
  }
}

import type { Json } from '../../../domain/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../../domain/json/measure.js'
import { parseJson } from '../../../domain/json/parse.js'

/** JSON that an upstream wrote, no deeper than a request may be; undefined for anything else. */
export const parsed = (text: string): Json | undefined => {
  try {
    const value = parseJson(text)
    return deeperThan(value, MAX_DEPTH) ? undefined : value
  } catch {
    return undefined
  }
}

import type { Json } from '../../../domain/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../../domain/json/measure.js'

/** JSON that an upstream wrote, no deeper than a request may be; undefined for anything else. */
export const parsed = (text: string): Json | undefined => {
  try {
    const value = JSON.parse(text) as Json
    return deeperThan(value, MAX_DEPTH) ? undefined : value
  } catch {
    return undefined
  }
}

import type { Json } from '../../kernel/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../kernel/json/measure.js'
import { parseJson } from '../../kernel/json/parse.js'

/** Leaves room for the levels of the call's output that contain the score. */
const MAX_SCORE_DEPTH = MAX_DEPTH - 8

/** JSON that a judge or a scorer answered; undefined where it is none, or nests too deep for a call. */
export const answeredJson = (text: string): Json | undefined => {
  try {
    const value = parseJson(text)
    return deeperThan(value, MAX_SCORE_DEPTH) ? undefined : value
  } catch {
    return undefined
  }
}

import { rememberDigits } from './digits.js'
import type { Json } from './json.js'
import { eachNumber } from './number-tokens.js'

/** The shortest whole number that a double may not hold has sixteen digits. */
const MAY_BE_WIDE = /[[:,\s]-?[0-9]{16}/

/** Stands before digits that are parsed as a string. Private use: where a text has it itself, its numbers are doubles. */
const MARK = '\uf8ff'
const HAS_MARK = /\uf8ff|\\u[fF]8[fF][fF]/

/**
 * As `JSON.parse`; digits of whole numbers that a double cannot hold are remembered, so that `jsonText` writes them again.
 *
 * @throws SyntaxError
 */
export const parseJson = (text: string): Json => {
  const value = JSON.parse(text) as Json
  if (!MAY_BE_WIDE.test(text) || HAS_MARK.test(text)) return value
  const marked = withMarks(text)
  return marked === undefined ? value : unmarked(JSON.parse(marked))
}

/** Undefined where there is nothing to mark. */
const withMarks = (text: string): string | undefined => {
  const pieces: string[] = []
  let taken = 0
  eachNumber(text, (from, to) => {
    if (to - from < 16 || !isLost(text.slice(from, to))) return
    pieces.push(text.slice(taken, from), `"${MARK}${text.slice(from, to)}"`)
    taken = to
  })
  return taken === 0 ? undefined : pieces.join('') + text.slice(taken)
}

const isLost = (token: string): boolean =>
  /^-?[0-9]+$/.test(token) && Number.isFinite(Number(token)) && String(Number(token)) !== token

type Holder = Record<string, unknown>

/** In place, and without recursion: nobody has looked yet how deep it is. */
const unmarked = (root: unknown): Json => {
  const top: Holder = { root }
  const holders: Holder[] = [top]
  for (let holder = holders.pop(); holder !== undefined; holder = holders.pop())
    for (const key of Object.keys(holder)) {
      const value = holder[key]
      if (typeof value === 'object' && value !== null) holders.push(value as Holder)
      else if (typeof value === 'string' && value.startsWith(MARK)) {
        const digits = value.slice(MARK.length)
        holder[key] = Number(digits)
        rememberDigits(holder, key, digits)
      }
    }
  return top['root'] as Json
}

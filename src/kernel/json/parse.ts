import { rememberDigits } from './digits.js'
import type { Json } from './json.js'
import { eachWide, hasSixteenDigits } from './number-tokens.js'

/**
 * Marks digits that are parsed as a string. It is a noncharacter; if the text contains it, its numbers stay doubles.
 */
const MARK = '\uffff'
const MARK_UNIT = MARK.charCodeAt(0)
const HAS_MARK = /\uffff|\\u[fF]{4}/

/** Limits parsing time and memory: each number takes some microseconds and a hundred bytes. */
export const MOST_WIDE_NUMBERS = 250_000

/** More than {@link MOST_WIDE_NUMBERS} whole numbers that a double cannot represent. */
export class TooManyWideNumbers extends Error {
  override readonly name = 'TooManyWideNumbers'
}

/**
 * As `JSON.parse`, but remembers digits that a double cannot represent, so that `jsonText` writes them again.
 *
 * @throws SyntaxError, TooManyWideNumbers
 */
export const parseJson = (text: string): Json => {
  const value = JSON.parse(text) as Json
  if (!hasSixteenDigits(text) || HAS_MARK.test(text)) return value
  const marked = withMarks(text)
  return marked === undefined ? value : unmarked(JSON.parse(marked))
}

/** Undefined if no number needs a mark. */
const withMarks = (text: string): string | undefined => {
  const pieces: string[] = []
  let taken = 0
  let many = 0
  eachWide(text, (from, to) => {
    const token = text.slice(from, to)
    if (!isLost(token)) return
    many += 1
    if (many > MOST_WIDE_NUMBERS) throw new TooManyWideNumbers()
    pieces.push(text.slice(taken, from), `"${MARK}${token}"`)
    taken = to
  })
  return taken === 0 ? undefined : pieces.join('') + text.slice(taken)
}

const isLost = (token: string): boolean => {
  const value = Number(token)
  if (Number.isSafeInteger(value) || !Number.isFinite(value) || String(value) === token) return false
  return /^-?[0-9]+$/.test(token)
}

type Holder = Record<string, unknown>

/** Works in place and without recursion, since the depth is not checked yet. */
const unmarked = (root: unknown): Json => {
  const top: Holder = { root }
  const holders: Holder[] = [top]
  const look = (holder: Holder, key: string | number) => {
    const value = holder[key]
    if (typeof value === 'object' && value !== null) holders.push(value as Holder)
    else if (typeof value === 'string' && value.charCodeAt(0) === MARK_UNIT) {
      const digits = value.slice(1)
      holder[key] = Number(digits)
      rememberDigits(holder, key, digits)
    }
  }
  for (let holder = holders.pop(); holder !== undefined; holder = holders.pop())
    if (Array.isArray(holder)) for (let at = 0; at < holder.length; at += 1) look(holder, at)
    else for (const key of Object.keys(holder)) look(holder, key)
  return top['root'] as Json
}

import { rememberDigits } from './digits.js'
import type { Json } from './json.js'
import { eachUnusual } from './number-tokens.js'
import { pythonFloat } from './python-float.js'

/**
 * The first of these that a text does not contain marks tokens that are parsed as strings: DEL, which strings of one
 * byte a character can hold, or a noncharacter. In a text that contains all of them, numbers stay doubles.
 */
const MARKS = ['\x7f', '\uffff', '\ufffe', '\ufdd0']

/** Limits parsing time and memory: each number takes some microseconds and a hundred bytes. */
export const MOST_WIDE_NUMBERS = 250_000

/** Later floats of a whole value in the same text become plain doubles: a million take a second and 200 MB. */
const MOST_WHOLE_FLOATS = 1_000_000

/** More than {@link MOST_WIDE_NUMBERS} whole numbers that a double cannot represent. */
export class TooManyWideNumbers extends Error {
  override readonly name = 'TooManyWideNumbers'
}

/** How many numbers of a text, or of all its parts, were parsed as strings. */
interface WideNumbers {
  wide: number
  floats: number
}

export const newWideNumbers = (): WideNumbers => ({ wide: 0, floats: 0 })

/**
 * As `JSON.parse`, but remembers the digits of numbers that a double does not reproduce, so that `jsonText` writes
 * them again. Python's `NaN`, `Infinity` and `-Infinity`, and numbers beyond the range of a double, become the strings
 * of these names.
 *
 * @throws SyntaxError, TooManyWideNumbers
 */
export const parseJson = (text: string): Json => parsePart(text, newWideNumbers())

/** As {@link parseJson}, for one of several parts that share the limits. */
export const parsePart = (text: string, numbers: WideNumbers): Json => {
  const marked = withMarks(text, numbers)
  if (marked === undefined) return JSON.parse(text) as Json
  let value: unknown
  try {
    value = JSON.parse(marked.text)
  } catch {
    // Its error names the position in the given text.
    return JSON.parse(text) as Json
  }
  return unmarked(value, marked.mark)
}

interface MarkedText {
  readonly text: string
  readonly mark: string
}

/** Undefined if no token needs a mark. */
const withMarks = (text: string, numbers: WideNumbers): MarkedText | undefined => {
  const pieces: string[] = []
  let mark = ''
  let taken = 0
  eachUnusual(text, (from, to) => {
    const token = text.slice(from, to)
    const kept = keptText(token)
    // A key is a string in JSON, so that the text is refused.
    if (kept === undefined || isKey(text, to)) return
    if (isWhole(kept)) {
      numbers.wide += 1
      if (numbers.wide > MOST_WIDE_NUMBERS) throw new TooManyWideNumbers()
    } else {
      numbers.floats += 1
      if (numbers.floats > MOST_WHOLE_FLOATS) return
    }
    if (pieces.length === 0) mark = freeMark(text)
    pieces.push(text.slice(taken, from), `"${mark}${kept}"`)
    taken = to
  })
  return mark === '' ? undefined : { text: pieces.join('') + text.slice(taken), mark }
}

/** Empty if the text contains all marks. */
const freeMark = (text: string): string =>
  MARKS.find((mark) => {
    const escaped = mark.charCodeAt(0).toString(16).padStart(4, '0')
    return !text.includes(mark) && !new RegExp(`\\\\u${escaped}`, 'i').test(text)
  }) ?? ''

const isKey = (text: string, to: number): boolean => {
  let at = to
  while (isBlank(text.charCodeAt(at))) at += 1
  return text[at] === ':'
}

const isBlank = (unit: number): boolean => unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09

const isWhole = (token: string): boolean => /^-?[0-9]+$/.test(token)

/** As Python writes it already. */
const WHOLE_FLOAT = /^-?(0|[1-9][0-9]{0,14})\.0$/

const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/

/** The largest whole values are written with an exponent, so that they are floats anyway. */
const FIRST_EXPONENT = 1e21

/** The text to remember of a token; undefined if its double says it all, or if it is no number. */
const keptText = (token: string): string | undefined => {
  if (WHOLE_FLOAT.test(token)) return token
  if (token === 'NaN' || token === 'Infinity' || token === '-Infinity') return token
  if (!JSON_NUMBER.test(token)) return undefined
  const value = Number(token)
  if (!Number.isFinite(value)) return pythonFloat(value)
  if (isWhole(token)) return Number.isSafeInteger(value) || String(value) === token ? undefined : token
  return Number.isInteger(value) && Math.abs(value) < FIRST_EXPONENT ? pythonFloat(value) : undefined
}

type Holder = Record<string, unknown>

/** Works in place and without recursion, since the depth is not checked yet. */
const unmarked = (root: unknown, mark: string): Json => {
  const unit = mark.charCodeAt(0)
  const top: Holder = { root }
  const holders: Holder[] = [top]
  const look = (holder: Holder, key: string | number) => {
    const value = holder[key]
    if (typeof value === 'object' && value !== null) holders.push(value as Holder)
    else if (typeof value === 'string' && value.charCodeAt(0) === unit) {
      const digits = value.slice(1)
      const number = Number(digits)
      const isNumber = Number.isFinite(number)
      holder[key] = isNumber ? number : digits
      if (isNumber) rememberDigits(holder, key, digits)
    }
  }
  for (let holder = holders.pop(); holder !== undefined; holder = holders.pop())
    if (Array.isArray(holder)) for (let at = 0; at < holder.length; at += 1) look(holder, at)
    else for (const key of Object.keys(holder)) look(holder, key)
  return top['root'] as Json
}

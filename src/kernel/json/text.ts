import { digitsAreAbout, digitsIn } from './digits.js'
import type { Json, JsonObject } from './json.js'
import { eachWide, hasSixteenDigits } from './number-tokens.js'

/** As `JSON.stringify`, but writes remembered digits of wide numbers. */
export const jsonText = (value: Json): string => {
  const text = JSON.stringify(value)
  return digitsAreAbout() && (hasSixteenDigits(text) || (text.includes('+') && text.includes('e+')))
    ? withDigits(text, value)
    : text
}

/** The text of one member, which may be a wide number itself. */
export const memberText = <H extends object>(holder: H, key: string & keyof H): string =>
  digitsIn(holder, key) ?? jsonText(holder[key] as Json)

const withDigits = (text: string, value: Json): string => {
  const wide: (string | undefined)[] = []
  collect(value, wide)
  const pieces: string[] = []
  let taken = 0
  let next = 0
  eachWide(text, (from, to) => {
    if (!isWide(Number(text.slice(from, to)))) return
    const digits = wide[next]
    next += 1
    if (digits === undefined) return
    pieces.push(text.slice(taken, from), digits)
    taken = to
  })
  return next === wide.length ? pieces.join('') + text.slice(taken) : text
}

/** Collects the digits of wide numbers in output order. */
const collect = (value: Json, wide: (string | undefined)[]): void => {
  if (typeof value !== 'object' || value === null) return
  const look = (member: Json, key: string | number) => {
    if (typeof member === 'object') collect(member, wide)
    else if (typeof member === 'number' && isWide(member)) wide.push(digitsIn(value, key))
  }
  if (Array.isArray(value)) for (let at = 0; at < value.length; at += 1) look(value[at] as Json, at)
  else for (const key of Object.keys(value)) look((value as JsonObject)[key]!, key)
}

const isWide = (value: number): boolean => Math.abs(value) > Number.MAX_SAFE_INTEGER && Number.isFinite(value)

import * as t from 'io-ts'
import { Codec, refuse } from './codec.js'
import { string } from './leaves.js'

const SHORT = 64

/** Fast path: most texts are short ASCII, and this check takes 5 % of the time of encoding. */
const isShortAscii = (text: string): boolean => {
  if (text.length > SHORT) return false
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false
  return true
}

/** Length in UTF-8. */
export const utf8Bytes = (text: string): number =>
  isShortAscii(text) ? text.length : Buffer.byteLength(text)

const fitsIn = (text: string, most: number): boolean =>
  text.length * 3 <= most || (text.length <= most && utf8Bytes(text) <= most)

/** A string of at most `most` bytes of UTF-8. */
export const textUpToBytes = (most: number): Codec<string, string> =>
  new Codec(
    'string',
    (u): u is string => string.is(u) && fitsIn(u, most),
    (u, c) => {
      if (!string.is(u)) return string.validate(u, c)
      return fitsIn(u, most)
        ? t.success(u)
        : refuse(u, c, 'string_too_long', `String should have at most ${most} bytes`)
    },
    { type: 'string', maxLength: most },
    'unchanged',
  )

/** Code points, as JSON Schema and pydantic count characters. */
const codePoints = (text: string): number => {
  let count = 0
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) count += 1
  return count
}

const hasAtMost = (text: string, most: number): boolean =>
  text.length <= most || (text.length <= 2 * most && codePoints(text) <= most)

/** A string of at most `most` characters (code points). */
export const textUpToCharacters = (most: number): Codec<string, string> =>
  new Codec(
    'string',
    (u): u is string => string.is(u) && hasAtMost(u, most),
    (u, c) => {
      if (!string.is(u)) return string.validate(u, c)
      return hasAtMost(u, most)
        ? t.success(u)
        : refuse(u, c, 'string_too_long', `String should have at most ${most} characters`)
    },
    { type: 'string', maxLength: most },
    'unchanged',
  )

/** A string that matches a pattern, and `fits` where a pattern is not enough; `rule` describes it. */
export const textLike = (
  name: string,
  pattern: RegExp,
  rule: string,
  fits = (text: string): boolean => pattern.test(text),
): Codec<string, string> =>
  new Codec(
    name,
    (u): u is string => typeof u === 'string' && fits(u),
    (u, c) => {
      if (typeof u !== 'string') return string.validate(u, c)
      return fits(u) ? t.success(u) : refuse(u, c, 'string_pattern_mismatch', rule)
    },
    { type: 'string', pattern: pattern.source, description: rule },
    'unchanged',
  )

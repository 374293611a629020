const QUOTE = 0x22
const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const CAPITAL_I = 0x49
const CAPITAL_N = 0x4e
const BACKSLASH = 0x5c

/** The fewest digits of a whole number that a double may not represent. */
const WIDE = 16

/**
 * Calls `found` with start and end of each token of a JSON text that a double may not reproduce, in order: numbers of
 * at least 16 digits, those with only zeros after the point or with an exponent, and words with a capital N or I.
 */
export const eachUnusual = (text: string, found: (from: number, to: number) => void): void => {
  const { length } = text
  for (let at = 0; at < length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = endOfString(text, at)
    else if ((unit >= ZERO && unit <= NINE) || unit === MINUS) {
      const from = at
      while (isDigit(text.charCodeAt(at + 1))) at += 1
      let isUnusual = at + 1 - from >= WIDE
      if (text.charCodeAt(at + 1) === POINT) {
        at += 1
        while (text.charCodeAt(at + 1) === ZERO) at += 1
        const zeros = at
        while (isDigit(text.charCodeAt(at + 1))) at += 1
        isUnusual ||= at === zeros
      }
      if (isPart(text.charCodeAt(at + 1))) {
        at = endOfToken(text, at + 1) - 1
        isUnusual = true
      }
      if (isUnusual) found(from, at + 1)
    } else if (unit === CAPITAL_N || unit === CAPITAL_I) {
      const end = endOfToken(text, at + 1)
      found(at, end)
      at = end - 1
    }
  }
}

const isDigit = (unit: number): boolean => unit >= ZERO && unit <= NINE

/** Index after the last letter, digit, sign or point. */
const endOfToken = (text: string, from: number): number => {
  let at = from
  while (isPart(text.charCodeAt(at))) at += 1
  return at
}

const isPart = (unit: number): boolean =>
  isDigit(unit) ||
  (unit >= 0x61 && unit <= 0x7a) ||
  (unit >= 0x41 && unit <= 0x5a) ||
  unit === POINT ||
  unit === MINUS ||
  unit === PLUS

/** Index of a string's closing quote; that of the last character if there is none. */
export const endOfString = (text: string, from: number): number => {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1
    if ((quote - before) % 2 === 0) return quote
  }
  return text.length
}

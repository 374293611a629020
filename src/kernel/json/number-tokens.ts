const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d
/** The fewest digits of a whole number that a double may not represent. */
const WIDE = 16

/** Calls `found` with start and end of each number in a JSON text that may be a whole number beyond 2^53, in order. */
export const eachWide = (text: string, found: (from: number, to: number) => void): void => {
  const { length } = text
  for (let at = 0; at < length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = endOfString(text, at)
    else if (isDigit(unit) || unit === MINUS) {
      const from = at
      let hasExponent = false
      for (let next = text.charCodeAt(at + 1); isOfNumber(next); next = text.charCodeAt(at + 1)) {
        hasExponent ||= next > 0x39
        at += 1
      }
      if (hasExponent || at + 1 - from >= WIDE) found(from, at + 1)
    }
  }
}

/** Whether the text has sixteen digits in a row. Checking every sixteenth character is enough to find a candidate. */
export const hasSixteenDigits = (text: string): boolean => {
  for (let at = WIDE - 1; at < text.length; at += WIDE)
    if (isDigit(text.charCodeAt(at)) && hasRowAt(text, at)) return true
  return false
}

const hasRowAt = (text: string, at: number): boolean => {
  let from = at
  while (isDigit(text.charCodeAt(from - 1))) from -= 1
  let to = at + 1
  while (to - from < WIDE && isDigit(text.charCodeAt(to))) to += 1
  return to - from >= WIDE
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39

/** Index of a string's closing quote. */
const endOfString = (text: string, from: number): number => {
  for (let quote = text.indexOf('"', from + 1); ; quote = text.indexOf('"', quote + 1)) {
    let before = quote
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1
    if ((quote - before) % 2 === 0) return quote
  }
}

/** A digit, sign, decimal point or exponent. */
const isOfNumber = (unit: number): boolean =>
  isDigit(unit) || unit === 0x2e || unit === MINUS || unit === 0x2b || unit === 0x45 || unit === 0x65

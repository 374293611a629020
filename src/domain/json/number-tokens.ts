const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d

/** Where the numbers stand in a JSON text, in order; each is called with its beginning and its end. */
export const eachNumber = (text: string, found: (from: number, to: number) => void): void => {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = endOfString(text, at)
    else if (isDigit(unit) || unit === MINUS) {
      const from = at
      while (isOfNumber(text.charCodeAt(at + 1))) at += 1
      found(from, at + 1)
    }
  }
}

/** Where the quote stands that closes a string. */
const endOfString = (text: string, from: number): number => {
  for (let at = from + 1; ; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === BACKSLASH) at += 1
    else if (unit === QUOTE || Number.isNaN(unit)) return at
  }
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39

/** A digit, a sign, a point or an exponent. */
const isOfNumber = (unit: number): boolean =>
  isDigit(unit) || unit === MINUS || unit === 0x2b || unit === 0x2e || unit === 0x45 || unit === 0x65

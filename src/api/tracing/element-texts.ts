const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44

/**
 * The original texts of the elements of `batch`, without what parsing would round, drop or reorder. The text must be
 * valid JSON. As in parsing, the last of duplicate keys counts.
 */
export const elementTexts = (text: string): readonly string[] => {
  let elements: readonly string[] = []
  let at = afterBlanks(text, afterBlanks(text, 0) + 1)
  while (text[at] !== '}') {
    const keyEnd = afterString(text, at)
    const key: unknown = JSON.parse(text.slice(at, keyEnd))
    const value = afterBlanks(text, afterBlanks(text, keyEnd) + 1)
    const end = afterValue(text, value)
    if (key === 'batch') elements = text[value] === '[' ? itemsOf(text, value) : []
    at = afterBlanks(text, end)
    if (text[at] === ',') at = afterBlanks(text, at + 1)
  }
  return elements
}

const itemsOf = (text: string, list: number): readonly string[] => {
  const items: string[] = []
  let at = afterBlanks(text, list + 1)
  while (text[at] !== ']') {
    const end = afterValue(text, at)
    items.push(text.slice(at, end))
    at = afterBlanks(text, end)
    if (text[at] === ',') at = afterBlanks(text, at + 1)
  }
  return items
}

const isBlank = (unit: number): boolean => unit === 32 || unit === 10 || unit === 13 || unit === 9

const afterBlanks = (text: string, from: number): number => {
  let at = from
  while (isBlank(text.charCodeAt(at))) at += 1
  return at
}

/** The index after the string that starts at `from`. */
const afterString = (text: string, from: number): number => {
  for (let quote = text.indexOf('"', from + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
}

/** The index after the value that starts at `from`. Not recursive, so that depth is unlimited. */
const afterValue = (text: string, from: number): number => {
  let depth = 0
  let at = from
  do {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = afterString(text, at)
    else {
      if (opens(unit)) depth += 1
      else if (closes(unit)) depth -= 1
      at = depth === 0 && !closes(unit) ? afterWord(text, at) : at + 1
    }
  } while (depth > 0)
  return at
}

const opens = (unit: number): boolean => unit === 91 || unit === 123

const closes = (unit: number): boolean => unit === 93 || unit === 125

/** The index after a number, `true`, `false` or `null`. */
const afterWord = (text: string, from: number): number => {
  let at = from
  for (;;) {
    const unit = text.charCodeAt(at)
    if (Number.isNaN(unit) || unit === COMMA || isBlank(unit) || closes(unit)) return at
    at += 1
  }
}

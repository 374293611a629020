/**
 * Reads JSON as text, one container at a time, so that what is not shown is never parsed and numbers keep all digits.
 * The text must be valid JSON.
 */
export interface JsonChild {
  /** Null for items of lists. */
  readonly key: string | null
  readonly kind: 'object' | 'array' | 'string' | 'number' | 'word'
  /** The span of the value in the text. */
  readonly from: number
  readonly to: number
}

const SPACE = /\s/

const skipSpace = (text: string, at: number): number => {
  while (SPACE.test(text.charAt(at))) at += 1
  return at
}

/** The place after a string that begins at a quote. */
const afterString = (text: string, at: number): number => {
  let end = at
  do {
    end = text.indexOf('"', end + 1)
    if (end < 0) return text.length
  } while (isEscaped(text, end))
  return end + 1
}

const isEscaped = (text: string, at: number): boolean => {
  let slashes = 0
  while (text[at - 1 - slashes] === '\\') slashes += 1
  return slashes % 2 === 1
}

const STRUCTURE = /["[\]{}]/g

/** The place after a value. */
const afterValue = (text: string, at: number): number => {
  const first = text[at]
  if (first === '"') return afterString(text, at)
  if (first !== '{' && first !== '[') {
    while (at < text.length && !/[\s,\]}]/.test(text.charAt(at))) at += 1
    return at
  }
  let depth = 0
  for (;;) {
    STRUCTURE.lastIndex = at
    const found = STRUCTURE.exec(text)
    if (found === null) return text.length
    const [mark] = found
    if (mark === '"') {
      at = afterString(text, found.index)
      continue
    }
    depth += mark === '{' || mark === '[' ? 1 : -1
    at = found.index + 1
    if (depth === 0) return at
  }
}

const kindAt = (text: string, at: number): JsonChild['kind'] => {
  const first = text[at]
  if (first === '{') return 'object'
  if (first === '[') return 'array'
  if (first === '"') return 'string'
  return first === '-' || (first !== undefined && first >= '0' && first <= '9') ? 'number' : 'word'
}

/** The value at a place, such as 0 for the whole text. */
export const valueAt = (text: string, at: number): JsonChild => {
  const from = skipSpace(text, at)
  return { key: null, kind: kindAt(text, from), from, to: afterValue(text, from) }
}

/** The members or items of a container, as many as wanted. */
export const childrenOf = (text: string, container: JsonChild, most = Infinity): readonly JsonChild[] => {
  const children: JsonChild[] = []
  let at = skipSpace(text, container.from + 1)
  while (at < container.to - 1 && children.length < most) {
    let key: string | null = null
    if (container.kind === 'object') {
      const end = afterString(text, at)
      key = stringOf(text.slice(at, end))
      at = skipSpace(text, skipSpace(text, end) + 1)
    }
    const to = afterValue(text, at)
    children.push({ key, kind: kindAt(text, at), from: at, to })
    at = skipSpace(text, to)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return children
}

/** The value of the JSON text of a string. */
export const stringOf = (text: string): string => {
  try {
    return JSON.parse(text) as string
  } catch {
    return text
  }
}

/** The member of an object at a path of keys. */
export const memberAt = (
  text: string,
  container: JsonChild,
  ...path: readonly string[]
): JsonChild | undefined => {
  let at: JsonChild | undefined = container
  for (const key of path) {
    if (at?.kind !== 'object') return undefined
    at = childrenOf(text, at).find((child) => child.key === key)
  }
  return at
}

export const spanText = (text: string, { from, to }: JsonChild): string => text.slice(from, to)

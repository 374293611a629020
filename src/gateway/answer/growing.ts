import { withDigitsOf } from '../../kernel/json/digits.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'

/** JSON that grows as pieces of a stream arrive. */
export type Growing = string | number | boolean | null | GrowingText | Growing[] | GrowingObject
export interface GrowingObject {
  [key: string]: Growing
}

export const isGrowingObject = (value: Growing | undefined): value is GrowingObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof GrowingText)

/** Members that a model writes: texts, or lists of parts. */
export const WRITTEN: ReadonlySet<string> = new Set(
  'content text refusal reasoning reasoning_content thinking thought summary transcript'.split(' '),
)

const APPENDED: ReadonlySet<string> = new Set([
  ...WRITTEN,
  ...'arguments input partial_json data encrypted_content code'.split(' '),
])

/**
 * A text in pieces, joined once at the end: reading a concatenation after each piece would copy all of it. Equal pieces of
 * a member that is not known to grow, such as `provider`, are one text repeated, unless another piece follows.
 */
export class GrowingText {
  private readonly pieces: string[]
  private repeats = 0
  private scanned = 0
  private readonly json = new JsonScan()

  constructor(
    private readonly key: string,
    first: string,
  ) {
    this.pieces = [first]
  }

  /** `grant` returns how many of the characters may be kept. */
  append(piece: string, grant: (characters: number) => number): void {
    const { pieces, key } = this
    const [first = ''] = pieces
    if (pieces.length === 1 && piece === first && !APPENDED.has(key)) this.repeats += 1
    else {
      for (; this.repeats > 0; this.repeats -= 1) pieces.push(first.slice(0, grant(first.length)))
      pieces.push(piece.slice(0, grant(piece.length)))
    }
  }

  /** Whether the text is a whole JSON object or list. Each piece is read once. */
  isJson(): boolean {
    for (; this.scanned < this.pieces.length; this.scanned += 1) this.json.add(this.pieces[this.scanned]!)
    return this.json.isWhole
  }

  text(): string {
    return this.key === 'data' ? joinedBase64(this.pieces) : this.pieces.join('')
  }
}

/** Pieces may be base64 of their own, with padding. */
const joinedBase64 = (pieces: readonly string[]): string => {
  const text = pieces.join('')
  if (!pieces.slice(0, -1).some((piece) => piece.endsWith('='))) return text
  return Buffer.concat((text.match(/[^=]+=*/g) ?? []).map((part) => Buffer.from(part, 'base64'))).toString(
    'base64',
  )
}

/** Follows the brackets of a JSON text. */
class JsonScan {
  private state: 'before' | 'within' | 'after' | 'other' = 'before'
  private depth = 0
  private isInString = false
  private isEscaped = false

  get isWhole(): boolean {
    return this.state === 'after'
  }

  add(text: string): void {
    for (const character of text) this.take(character)
  }

  private take(unit: string): void {
    if (this.isInString) {
      if (unit === '"' && !this.isEscaped) this.isInString = false
      this.isEscaped = unit === '\\' && !this.isEscaped
    } else if (/\s/.test(unit)) return
    else if (this.state === 'after') this.state = 'other'
    else if (unit === '{' || unit === '[') {
      this.state = 'within'
      this.depth += 1
    } else if (this.state === 'before') this.state = 'other'
    else if (unit === '}' || unit === ']') {
      this.depth -= 1
      if (this.depth === 0) this.state = 'after'
    } else if (unit === '"') this.isInString = true
  }
}

/** Defines the property, because an assignment to `__proto__` would set the prototype. */
export const setMember = (target: GrowingObject, key: string, value: Growing): void => {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
}

/** What the pieces so far make. */
export const settled = (value: Growing): Json => {
  if (value instanceof GrowingText) return value.text()
  if (Array.isArray(value)) return withDigitsOf(value, value.map(settled))
  if (!isGrowingObject(value)) return value
  const copy: GrowingObject = {}
  for (const [key, member] of Object.entries(value)) setMember(copy, key, settled(member) as Growing)
  return withDigitsOf(value, copy as JsonObject)
}

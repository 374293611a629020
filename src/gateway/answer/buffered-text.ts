import { canonicalJson } from '../../kernel/json/canonical.js'
import type { Json } from '../../kernel/json/json.js'
import { wellFormed } from '../../kernel/json/well-formed.js'

/** A byte range of the spool. */
export interface SpoolRange {
  readonly offset: number
  readonly length: number
}

export type TextKind = 'string' | 'list'

const BRACKETS = { string: '""', list: '[]' } as const

/** A growing string or list as JSON text: the head in memory, ranges in the spool, and the write buffer. */
export class BufferedText {
  readonly head = new TextPieces()
  private waiting = new TextPieces()
  private readonly ranges: SpoolRange[] = []
  private hasItems = false
  /** A high surrogate at the end of the last piece; its pair may come with the next one. */
  private half = ''

  constructor(private readonly kind: TextKind) {}

  /** The JSON that a piece adds to a string; may be empty. */
  ofText(piece: string): string {
    const text = this.half + piece
    const isSplit = endsInHalf(text)
    this.half = isSplit ? text.slice(-1) : ''
    return JSON.stringify((isSplit ? text.slice(0, -1) : text).toWellFormed()).slice(1, -1)
  }

  /** The JSON that an item adds to a list. */
  ofItem(item: Json): string {
    const text = canonicalJson(wellFormed(item))
    if (this.hasItems) return `,${text}`
    this.hasItems = true
    return text
  }

  wait(json: string): void {
    this.waiting.add(json)
  }

  /** Empties the write buffer, which the caller writes to the spool at `offset`. */
  drained(offset: number): Uint8Array {
    const bytes = new TextEncoder().encode(this.waiting.text)
    this.waiting = new TextPieces()
    const last = this.ranges.at(-1)
    if (last !== undefined && last.offset + last.length === offset)
      this.ranges[this.ranges.length - 1] = { offset: last.offset, length: last.length + bytes.length }
    else this.ranges.push({ offset, length: bytes.length })
    return bytes
  }

  forgetWaiting(): void {
    this.waiting = new TextPieces()
  }

  /** The value of the head alone. */
  headValue(): Json {
    const [open, close] = BRACKETS[this.kind]
    return JSON.parse(`${open}${this.head.text}${this.end}${close}`) as Json
  }

  /** The whole text as canonical JSON: the parts in memory, and the spooled ranges between them. */
  *jsonParts(): Generator<string | SpoolRange> {
    const [open, close] = BRACKETS[this.kind]
    yield `${open}${this.head.text}`
    yield* this.ranges
    yield `${this.waiting.text}${this.end}${close}`
  }

  /** A high surrogate without its pair becomes U+FFFD. */
  private get end(): string {
    return this.half === '' ? '' : '\uFFFD'
  }
}

const endsInHalf = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}

/** Pieces are joined after this many: a short string takes several times its length in memory. */
const MOST_LOOSE = 64

/** Text that arrives in many small pieces, stored in few strings. */
class TextPieces {
  private readonly joined: string[] = []
  private loose: string[] = []

  add(piece: string): void {
    if (this.loose.push(piece) < MOST_LOOSE) return
    this.joined.push(this.loose.join(''))
    this.loose = []
  }

  get text(): string {
    return [...this.joined, ...this.loose].join('')
  }
}

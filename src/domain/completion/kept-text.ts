import { canonicalJson } from '../json/canonical.js'
import type { Json } from '../json/json.js'
import { wellFormed } from '../json/well-formed.js'
import { Pieces } from './pieces.js'

/** Where a part of a text lies in a spool, in bytes. */
export interface Run {
  readonly offset: number
  readonly length: number
}

export type Kind = 'string' | 'list'

const BRACKETS = { string: '""', list: '[]' } as const

/**
 * A string or a list of an answer that grows at its end, as JSON text: a beginning that stays in memory, runs in a spool, and
 * what waits to be spooled.
 */
export class KeptText {
  readonly beginning = new Pieces()
  private waiting = new Pieces()
  private readonly runs: Run[] = []
  private hasItems = false
  /** The first half of a pair of surrogates, whose second half may come with the next piece. */
  private half = ''

  constructor(private readonly kind: Kind) {}

  /** The JSON of what a piece adds to a string, which may be nothing yet. */
  ofText(piece: string): string {
    const text = this.half + piece
    const isSplit = endsInHalf(text)
    this.half = isSplit ? text.slice(-1) : ''
    return JSON.stringify((isSplit ? text.slice(0, -1) : text).toWellFormed()).slice(1, -1)
  }

  /** The JSON of what an item adds to a list. */
  ofItem(item: Json): string {
    const text = canonicalJson(wellFormed(item))
    if (this.hasItems) return `,${text}`
    this.hasItems = true
    return text
  }

  wait(json: string): void {
    this.waiting.add(json)
  }

  /** What waited; from now on it lies in the spool, at this offset. */
  drained(offset: number): Uint8Array {
    const bytes = new TextEncoder().encode(this.waiting.text)
    this.waiting = new Pieces()
    const last = this.runs.at(-1)
    if (last !== undefined && last.offset + last.length === offset)
      this.runs[this.runs.length - 1] = { offset: last.offset, length: last.length + bytes.length }
    else this.runs.push({ offset, length: bytes.length })
    return bytes
  }

  forgetWaiting(): void {
    this.waiting = new Pieces()
  }

  /** As a value, without what lies behind the beginning. */
  begun(): Json {
    const [open, close] = BRACKETS[this.kind]
    return JSON.parse(`${open}${this.beginning.text}${this.end}${close}`) as Json
  }

  /** As canonical JSON text, all of it: what is in memory, and the runs in the spool between. */
  *written(): Generator<string | Run> {
    const [open, close] = BRACKETS[this.kind]
    yield `${open}${this.beginning.text}`
    yield* this.runs
    yield `${this.waiting.text}${this.end}${close}`
  }

  /** Half a pair that nothing more came of is no character. */
  private get end(): string {
    return this.half === '' ? '' : '\uFFFD'
  }
}

const endsInHalf = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}

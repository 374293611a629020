import type { Json } from '../../kernel/json/json.js'
import { BufferedText, type TextKind } from './buffered-text.js'

/** Limits for what is kept of one response. */
export interface AnswerLimits {
  /** Characters of JSON in memory: half for the head of the response, half for the write buffer of the spool. */
  readonly inMemory: number
  /** Bytes in the spool. */
  readonly spooled: number
}

/** The spool limit is that of a request body: a client could record the call itself with as much. */
export const ANSWER_LIMITS: AnswerLimits = { inMemory: 262_144, spooled: 33_554_432 }

/** Limit for buffered texts and spool ranges; each takes memory of its own. */
const MOST_TEXTS = 2048
const MOST_RANGES = 16_384

/** Distributes the memory limit of one response over its texts. */
export class AnswerMemory {
  /** Whether part of the response is beyond the head. */
  hasRest = false
  /** Whether part of the response was dropped. */
  isCut = false
  private texts = 0
  private ranges = 0
  private head = 0
  private waiting = 0
  private spooled = 0
  private isClosed = false
  private readonly waitingTexts = new Set<BufferedText>()

  constructor(private readonly limits: AnswerLimits) {}

  /** A new buffered text; undefined at the limit. */
  newText(kind: TextKind): BufferedText | undefined {
    this.texts += 1
    if (this.texts <= MOST_TEXTS) return new BufferedText(kind)
    this.isCut = true
    return undefined
  }

  addText(text: BufferedText | undefined, piece: string): void {
    if (text !== undefined && piece !== '') this.add(text, text.ofText(piece))
  }

  addItem(text: BufferedText | undefined, item: Json): void {
    if (text !== undefined) this.add(text, text.ofItem(item))
  }

  /** Whether the write buffer must be drained before more is added. */
  get isDue(): boolean {
    return this.waiting > this.limits.inMemory / 2
  }

  /** The buffered bytes to append to the spool; empty when the spool is full. */
  drain(): Uint8Array {
    const mostBytes = this.spooled + BYTES_OF_A_CHARACTER * this.waiting
    if (mostBytes > this.limits.spooled || this.ranges + this.waitingTexts.size > MOST_RANGES) this.close()
    const pieces: Uint8Array[] = []
    const from = this.spooled
    for (const text of this.waitingTexts) {
      const piece = text.drained(this.spooled)
      pieces.push(piece)
      this.spooled += piece.length
    }
    this.ranges += pieces.length
    this.waiting = 0
    this.waitingTexts.clear()
    return joined(pieces, this.spooled - from)
  }

  /** Stops buffering and drops the write buffer. */
  close(): void {
    for (const text of this.waitingTexts) text.forgetWaiting()
    this.waitingTexts.clear()
    this.waiting = 0
    this.isClosed = true
    this.isCut = true
  }

  /** Once part of the response is beyond the head, so is all that follows. */
  private add(text: BufferedText, json: string): void {
    if (json === '') return
    this.hasRest ||= this.head + json.length > this.limits.inMemory / 2
    if (!this.hasRest) {
      this.head += json.length
      text.head.add(json)
    } else if (this.isClosed) this.isCut = true
    else {
      this.waiting += json.length
      this.waitingTexts.add(text)
      text.wait(json)
    }
  }
}

/** UTF-8 takes at most three bytes per UTF-16 unit. */
const BYTES_OF_A_CHARACTER = 3

const joined = (pieces: readonly Uint8Array[], length: number): Uint8Array => {
  const all = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}

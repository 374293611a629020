import type { Json } from '../json/json.js'
import { KeptText, type Kind } from './kept-text.js'

/** What may be kept of one answer. */
export interface Bounds {
  /** Characters of JSON in memory: half of them for the beginning of the answer, half for what waits to be spooled. */
  readonly inMemory: number
  /** Bytes in the spool. */
  readonly spooled: number
}

/** As much in a spool as a request may have, with which a client could record the call itself. */
export const BOUNDS: Bounds = { inMemory: 262_144, spooled: 33_554_432 }

/** Texts of an answer, and runs of them in its spool; each takes memory of its own. */
const MOST_TEXTS = 2048
const MOST_RUNS = 16_384

/** Shares out among the texts of one answer the memory that it may take. */
export class AnswerMemory {
  /** Whether some of the answer lies behind its beginning. */
  hasRest = false
  /** Whether some of the answer is kept nowhere. */
  isCut = false
  private texts = 0
  private runs = 0
  private begun = 0
  private waiting = 0
  private spooled = 0
  private isClosed = false
  private readonly waitingTexts = new Set<KeptText>()

  constructor(private readonly bounds: Bounds) {}

  /** A text that nothing is in yet; undefined where there are too many. */
  newText(kind: Kind): KeptText | undefined {
    this.texts += 1
    if (this.texts <= MOST_TEXTS) return new KeptText(kind)
    this.isCut = true
    return undefined
  }

  addText(text: KeptText | undefined, piece: string): void {
    if (text !== undefined && piece !== '') this.add(text, text.ofText(piece))
  }

  addItem(text: KeptText | undefined, item: Json): void {
    if (text !== undefined) this.add(text, text.ofItem(item))
  }

  /** Whether what waits is to be drained before more comes. */
  get isDue(): boolean {
    return this.waiting > this.bounds.inMemory / 2
  }

  /** What waited, to be put behind what the spool holds; nothing where the spool can hold no more. */
  drain(): Uint8Array {
    const mostBytes = this.spooled + BYTES_OF_A_CHARACTER * this.waiting
    if (mostBytes > this.bounds.spooled || this.runs + this.waitingTexts.size > MOST_RUNS) this.close()
    const pieces: Uint8Array[] = []
    const from = this.spooled
    for (const text of this.waitingTexts) {
      const piece = text.drained(this.spooled)
      pieces.push(piece)
      this.spooled += piece.length
    }
    this.runs += pieces.length
    this.waiting = 0
    this.waitingTexts.clear()
    return joined(pieces, this.spooled - from)
  }

  /** Keeps nothing more of the answer, nor what waits. */
  close(): void {
    for (const text of this.waitingTexts) text.forgetWaiting()
    this.waitingTexts.clear()
    this.waiting = 0
    this.isClosed = true
    this.isCut = true
  }

  /** Once something of the answer lies behind its beginning, so does all that follows. */
  private add(text: KeptText, json: string): void {
    if (json === '') return
    this.hasRest ||= this.begun + json.length > this.bounds.inMemory / 2
    if (!this.hasRest) {
      this.begun += json.length
      text.beginning.add(json)
    } else if (this.isClosed) this.isCut = true
    else {
      this.waiting += json.length
      this.waitingTexts.add(text)
      text.wait(json)
    }
  }
}

/** A UTF-16 unit takes at most three bytes of UTF-8. */
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

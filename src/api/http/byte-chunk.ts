import { decimalText } from '../../domain/price/decimal.js'
import type { Exact } from '../../domain/price/exact.js'

const CHUNK_BYTES = 256 * 1024

/** One entry more than a full chunk usually fits without growing. */
const SLACK_BYTES = 8 * 1024

/** Up to this length a loop is faster than a call. */
const SHORT = 32
const [QUOTE, BACKSLASH, MINUS, POINT, ZERO] = [34, 92, 45, 46, 48]
const ONE = 1e12
const HALF_PLACES = 1e6

/** Bytes being written, handed over when there are enough of them. */
export class ByteChunk {
  #bytes = Buffer.allocUnsafe(CHUNK_BYTES + SLACK_BYTES)
  #at = 0

  isFull(): boolean {
    return this.#at >= CHUNK_BYTES
  }

  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#at)
    this.#bytes = Buffer.allocUnsafe(CHUNK_BYTES + SLACK_BYTES)
    this.#at = 0
    return taken
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#at++] = value
  }

  copy(from: Uint8Array): void {
    this.#reserve(from.length)
    if (from.length > SHORT) this.#bytes.set(from, this.#at)
    else for (let i = 0; i < from.length; i += 1) this.#bytes[this.#at + i] = from[i]!
    this.#at += from.length
  }

  text(text: string): void {
    this.#reserve(text.length * 3)
    this.#at += this.#bytes.write(text, this.#at)
  }

  /** Ids have no control characters: only quotes and backslashes need escaping. */
  escaped(from: Uint8Array, start: number, end: number): void {
    this.#reserve((end - start) * 2)
    const out = this.#bytes
    let at = this.#at
    for (let i = start; i < end; i += 1) {
      const byte = from[i]!
      if (byte === QUOTE || byte === BACKSLASH) out[at++] = BACKSLASH
      out[at++] = byte
    }
    this.#at = at
  }

  integer(value: number): void {
    this.#reserve(24)
    if (value < 0) {
      this.#bytes[this.#at++] = MINUS
      this.integer(-value)
      return
    }
    if (value >= 1e9) {
      this.#at += this.#bytes.write(String(value), this.#at)
      return
    }
    let digits = 1
    for (let power = 10; power <= value; power *= 10) digits += 1
    let rest = value | 0
    for (let i = this.#at + digits - 1; i >= this.#at; i -= 1) {
      const quotient = (rest / 10) | 0
      this.#bytes[i] = ZERO + rest - quotient * 10
      rest = quotient
    }
    this.#at += digits
  }

  /** A number of 10^-12 as a decimal without zeros at its end: exact, whatever its size. */
  decimal(amount: Exact): void {
    if (typeof amount === 'bigint') {
      this.text(decimalText(amount))
      return
    }
    if (amount < 0) {
      this.byte(MINUS)
      this.decimal(-amount)
      return
    }
    let whole = Math.floor(amount / ONE)
    let rest = amount - whole * ONE
    if (rest < 0) {
      whole -= 1
      rest += ONE
    }
    this.integer(whole)
    if (rest !== 0) this.#fraction(rest)
  }

  /** Twelve places, which are too many for the quick arithmetic of 32 bits at once. */
  #fraction(rest: number): void {
    this.#reserve(24)
    const high = Math.floor(rest / HALF_PLACES)
    this.#bytes[this.#at] = POINT
    this.#digits(high, this.#at + 1)
    this.#digits(rest - high * HALF_PLACES, this.#at + 7)
    this.#at += 13
    while (this.#bytes[this.#at - 1] === ZERO) this.#at -= 1
  }

  #digits(six: number, at: number): void {
    let rest = six | 0
    for (let i = at + 5; i >= at; i -= 1) {
      const quotient = (rest / 10) | 0
      this.#bytes[i] = ZERO + rest - quotient * 10
      rest = quotient
    }
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + more))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

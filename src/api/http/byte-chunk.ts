import { decimalText } from '../../domain/price/decimal.js'
import type { Exact } from '../../domain/price/exact.js'

const CHUNK_BYTES = 256 * 1024

/** Room for one more entry after a chunk is full, so that it rarely has to grow. */
const SLACK_BYTES = 8 * 1024

/** Up to this length a loop is faster than `set`. */
const SHORT = 32
const [QUOTE, BACKSLASH, MINUS, POINT, ZERO] = [34, 92, 45, 46, 48]
const ONE = 1e12

/** The digits `000` to `999`, concatenated. */
const THREE_DIGITS = Buffer.from(
  Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0')).join(''),
)

/** A growing buffer that is taken whenever it is full. */
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

  /** Ids have no control characters, so only quotes and backslashes need escaping. */
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

  /** Writes a number of 10^-12 units as an exact decimal without trailing zeros. */
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
    if (amount < ONE) {
      this.byte(ZERO)
      if (amount !== 0) this.#fraction(amount)
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

  /** Twelve decimal places, three at a time, without trailing zeros. */
  #fraction(rest: number): void {
    this.#reserve(24)
    const out = this.#bytes
    let at = this.#at
    out[at++] = POINT
    let left = rest
    for (let unit = 1e9; left > 0; unit /= 1000) {
      const three = Math.floor(left / unit)
      left -= three * unit
      out[at++] = THREE_DIGITS[3 * three]!
      out[at++] = THREE_DIGITS[3 * three + 1]!
      out[at++] = THREE_DIGITS[3 * three + 2]!
    }
    while (out[at - 1] === ZERO) at -= 1
    this.#at = at
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + more))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

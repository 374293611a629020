import { ReadTooExpensive } from '../../domain/ports/clickhouse.js'
import { NOTHING, type Aggregation } from './metric.js'

const HALF = 2 ** 27
const LARGEST = 2n ** 53n

/** So many values are kept for percentiles, all buckets together: 8 bytes each. */
const MOST_VALUES = 5_000_000

/** Counts what is kept in memory for one answer. */
export interface Room {
  left: number
}

export const roomForValues = (): Room => ({ left: MOST_VALUES })

/** What is told of a metric in one bucket. Sums are exact: they are kept in two halves of 27 bits and more. */
export class Sums {
  #count = 0
  #high = 0
  #low = 0
  #least = Infinity
  #largest = -Infinity
  readonly #values: number[] | undefined

  constructor(private readonly room: Room | undefined) {
    if (room !== undefined) this.#values = []
  }

  add(value: number | bigint): void {
    const near = clamped(value)
    this.#count += 1
    if (near < this.#least) this.#least = near
    if (near > this.#largest) this.#largest = near
    if (typeof value === 'number') {
      const high = Math.floor(value / HALF)
      this.#high += high
      this.#low += value - high * HALF
    } else {
      const high = value >> 27n
      this.#high += Number(high)
      this.#low += Number(value - (high << 27n))
    }
    if (this.room === undefined || this.#values === undefined) return
    this.room.left -= 1
    if (this.room.left < 0) throw new ReadTooExpensive('memory')
    this.#values.push(near)
  }

  told(figure: Aggregation | number): number | null {
    if (typeof figure === 'number') return percentile(this.#values ?? [], figure)
    if (this.#count === 0) return NOTHING[figure]
    switch (figure) {
      case 'sum':
        return clamped(this.#sum())
      case 'avg':
        return Number(this.#sum()) / this.#count
      case 'min':
        return this.#least
      case 'max':
        return this.#largest
      case 'count':
        return this.#count
    }
  }

  #sum(): bigint {
    return BigInt(this.#high) * BigInt(HALF) + BigInt(this.#low)
  }
}

/** Figures beyond 2^53 are told as 2^53, as usage is. */
const clamped = (value: number | bigint): number =>
  typeof value === 'number' ? value : Number(value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value)

/** Between the two values next to it, in proportion; null for no values. */
const percentile = (values: number[], level: number): number | null => {
  if (values.length === 0) return null
  values.sort((a, b) => a - b)
  const place = (level / 100) * (values.length - 1)
  const below = values[Math.floor(place)]!
  const above = values[Math.min(Math.floor(place) + 1, values.length - 1)]!
  return below + (place - Math.floor(place)) * (above - below)
}

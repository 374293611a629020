import { ReadTooExpensive } from '../../domain/ports/clickhouse.js'
import { sum, type Exact } from '../../domain/price/exact.js'
import { NOTHING, type Aggregation, type Figure } from './metric.js'
import type { Scale } from './scale.js'

/** So many values are kept for percentiles, all buckets together: 8 bytes each. */
const MOST_VALUES = 5_000_000

/** Counts what is kept in memory for one answer. */
export interface Room {
  left: number
}

export const roomForValues = (): Room => ({ left: MOST_VALUES })

/** What is told of a metric in one bucket; values are kept for percentiles where room for them is given. */
export class Sums {
  #count = 0
  #sum: Exact = 0
  #least = Infinity
  #largest = -Infinity
  readonly #values: number[] = []

  constructor(
    private readonly scale: Scale,
    private readonly room: Room | undefined,
  ) {}

  add(value: Exact): void {
    const near = this.scale.near(value)
    this.#count += 1
    this.#sum = sum(this.#sum, value)
    if (near < this.#least) this.#least = near
    if (near > this.#largest) this.#largest = near
    if (this.room === undefined) return
    this.room.left -= 1
    if (this.room.left < 0) throw new ReadTooExpensive('memory')
    this.#values.push(near)
  }

  told(figure: Aggregation | number): Figure {
    if (typeof figure === 'number') return percentile(this.#values, figure)
    if (this.#count === 0) return NOTHING[figure]
    switch (figure) {
      case 'sum':
        return this.scale.sum(this.#sum)
      case 'avg':
        return this.scale.size(this.#sum) / this.#count
      case 'min':
        return this.#least
      case 'max':
        return this.#largest
      case 'count':
        return this.#count
    }
  }
}

/** Between the two values next to it, in proportion; null for no values. */
const percentile = (values: number[], level: number): number | null => {
  if (values.length === 0) return null
  values.sort((a, b) => a - b)
  const place = (level / 100) * (values.length - 1)
  const below = values[Math.floor(place)]!
  const above = values[Math.min(Math.floor(place) + 1, values.length - 1)]!
  return below + (place - Math.floor(place)) * (above - below)
}

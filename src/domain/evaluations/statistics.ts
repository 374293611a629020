/** Finite numbers in the order that they came in, 8 bytes each. */
export class NumberList {
  private items = new Float64Array(0)
  private size = 0

  get length(): number {
    return this.size
  }

  push(value: number): void {
    if (this.size === this.items.length) {
      const larger = new Float64Array(Math.max(16, 2 * this.size))
      larger.set(this.items)
      this.items = larger
    }
    this.items[this.size] = value
    this.size += 1
  }

  /** A sorted copy: what is computed from it does not depend on the order of the rows. */
  sorted(): Float64Array {
    return this.items.slice(0, this.size).sort()
  }
}

/** Of at least one number. Finite, even where the sum is not. */
export const meanOf = (values: Float64Array): number => {
  const sum = sumOf(values, 1)
  return Number.isFinite(sum) ? sum / values.length : sumOf(values, values.length)
}

/** Neumaier's compensated sum: the error does not grow with the number of rows. */
const sumOf = (values: Float64Array, divisor: number): number => {
  let sum = 0
  let lost = 0
  for (const item of values) {
    const value = item / divisor
    const next = sum + value
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
    sum = next
  }
  const total = sum + lost
  return Number.isNaN(total) ? sum : total
}

/**
 * Population standard deviation (divided by n, as the `variance` of the Python SDK): 0 for one number. Infinite where a
 * deviation is.
 */
export const deviationOf = (values: Float64Array, mean: number): number => {
  let largest = 0
  for (const value of values) largest = Math.max(largest, Math.abs(value - mean))
  if (largest === 0 || largest === Infinity) return largest
  // Scaled, so that no square overflows or vanishes.
  const squares = values.map((value) => ((value - mean) / largest) ** 2)
  return largest * Math.sqrt(meanOf(squares))
}

/** Linear interpolation between the closest ranks, as NumPy's default: p50 of two numbers is their mean. */
export const percentileOf = (sorted: Float64Array, fraction: number): number => {
  const rank = fraction * (sorted.length - 1)
  const below = sorted[Math.floor(rank)]!
  const above = sorted[Math.ceil(rank)]!
  const weight = rank - Math.floor(rank)
  const width = above - below
  if (!Number.isFinite(width)) return below * (1 - weight) + above * weight
  return weight < 0.5 ? below + width * weight : above - width * (1 - weight)
}

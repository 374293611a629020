import { numberFrom, type Amount } from '../../domain/price/decimal.js'
import type { Exact } from '../../domain/price/exact.js'

/** What the whole numbers that a metric adds up mean, as its answer tells them. */
export interface Scale {
  readonly size: (value: Exact) => number
  /** One value. */
  readonly near: (value: Exact) => number
  readonly sum: (value: Exact) => number | Amount
}

const LARGEST = 2n ** 53n

/** Figures beyond 2^53 are told as 2^53, as usage is. */
const clamped = (value: Exact): number =>
  typeof value === 'number' ? value : Number(value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value)

export const COUNTS: Scale = { size: Number, near: clamped, sum: clamped }

/** Numbers of 10^-12. */
export const AMOUNTS: Scale = { size: numberFrom, near: numberFrom, sum: BigInt }

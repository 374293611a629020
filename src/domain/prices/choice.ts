import type { Instant } from '../../kernel/codec/instant.js'

/** What decides between the prices of one model. */
export interface Candidate {
  readonly effective_date: Instant
  /** A project's price takes precedence over a list's. */
  readonly level: 'project' | 'default'
}

/** The effective prices of a model by the start of a call. */
export interface Timeline<P> {
  /** For calls that started before all `steps`. */
  readonly first: P
  /** Ascending: each price is effective from its date. */
  readonly steps: readonly { readonly from: Instant; readonly price: P }[]
}

/**
 * Orders a model's prices by time. A price in force takes precedence over a future one, a project's over a list's,
 * and then the latest. Between two of the same level and date, the last published wins.
 */
export const timelineOf = <P extends Candidate>(prices: readonly P[]): Timeline<P> | undefined => {
  const [any, ...others] = prices
  if (any === undefined) return undefined
  const steps: { from: Instant; price: P }[] = []
  let current: P | undefined
  for (const price of prices.toSorted(byDate)) {
    if (current?.level === 'project' && price.level === 'default') continue
    current = price
    if (steps.at(-1)?.from === price.effective_date) steps.pop()
    steps.push({ from: price.effective_date, price })
  }
  return { first: others.reduce(bestOfFuture, any), steps }
}

const byDate = (a: Candidate, b: Candidate): number =>
  a.effective_date < b.effective_date ? -1 : Number(a.effective_date > b.effective_date)

const bestOfFuture = <P extends Candidate>(best: P, other: P): P => {
  if (best.level !== other.level) return best.level === 'project' ? best : other
  return best.effective_date > other.effective_date ? best : other
}

/** The price effective at the start of a call. */
export const priceAt = <P>({ first, steps }: Timeline<P>, started: Instant): P => {
  let price = first
  for (const step of steps) if (step.from <= started) ({ price } = step)
  return price
}

import type { Instant } from '../codec/instant.js'

/** What decides between the prices of one model. */
export interface Candidate {
  readonly effective_date: Instant
  /** A project's own price goes before one of a list. */
  readonly level: 'project' | 'default'
}

/** Which of a model's prices holds, by when a call started. */
export interface Timeline<P> {
  /** For calls that started before all of `steps`. */
  readonly first: P
  /** Ascending: from each date on another price holds. */
  readonly steps: readonly { readonly from: Instant; readonly price: P }[]
}

/**
 * The prices of a model in the order of time: a price in force goes before one of the future, a
 * project's before a list's, the latest first. Of two of one level and date, the one given last holds.
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

/** The price of a call that started then. */
export const priceAt = <P>({ first, steps }: Timeline<P>, started: Instant): P => {
  let price = first
  for (const step of steps) if (step.from <= started) ({ price } = step)
  return price
}

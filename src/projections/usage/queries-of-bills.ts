import { FIGURES, type Figure } from '../../domain/call/usage.js'
import { chargedTokens } from '../../domain/price/charged-tokens.js'
import { COUNTERS, usageCounting } from './fold.js'

type Counter = (typeof COUNTERS)[number]

/** A model's figures as the answer counts them, and the tokens that are charged, each kind at its price. */
export const billed = (figures: Readonly<Record<Figure, number>>) => {
  const exact = FIGURES.map((figure) => BigInt(figures[figure]))
  const counted = usageCounting.foldExactly(exact)
  const counters = Object.fromEntries(COUNTERS.map((counter, at) => [counter, Number(counted[at]!)]))
  return { counters: counters as Record<Counter, number>, tokens: chargedTokens(exact) }
}

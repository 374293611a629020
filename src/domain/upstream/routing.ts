import { standingOf, type Health } from './health.js'

/** What decides where a target stands among those of its model. */
export interface Candidate<T> {
  readonly target: T
  readonly weight: number
  readonly health: Health
  /** False where its last probe could not reach it. */
  readonly isReachable: boolean
}

/**
 * The targets of a model in the order in which they are asked. By chance, each first in proportion to its weight and those
 * of weight 0 behind; those that could not be reached lately behind them. One whose time out is over goes first, as
 * its probe. Those that are out are left out, unless there is nobody else. `draw` gives numbers from 0 up to 1.
 */
export const inOrder = <T>(
  candidates: readonly Candidate<T>[],
  now: number,
  draw: () => number,
): readonly T[] => {
  const standing = (which: 'in' | 'due' | 'out') =>
    candidates.filter(({ health }) => standingOf(health, now) === which)
  const [due, usual] = [standing('due'), shuffled(standing('in'), draw)]
  const chosen = [
    ...due.slice(0, 1),
    ...usual.filter(({ isReachable }) => isReachable),
    ...usual.filter(({ isReachable }) => !isReachable),
  ]
  return (chosen.length > 0 ? chosen : soonestBack(candidates)).map(({ target }) => target)
}

/** By weight, without putting back (Efraimidis and Spirakis). */
const shuffled = <T>(candidates: readonly Candidate<T>[], draw: () => number): readonly Candidate<T>[] =>
  candidates
    .map((candidate) => ({ candidate, key: keyOf(candidate.weight, draw()) }))
    .sort((a, b) => b.key - a.key)
    .map(({ candidate }) => candidate)

/** Logarithms, as a power of a small number would be 0; all keys of weight 0 are below all others, in an order by chance. */
const keyOf = (weight: number, drawn: number): number => {
  const chance = Math.max(drawn, Number.MIN_VALUE)
  return weight > 0 ? Math.log(chance) / weight : -1e6 - chance
}

const soonestBack = <T>(candidates: readonly Candidate<T>[]): readonly Candidate<T>[] =>
  [...candidates].sort((a, b) => untilOf(a.health) - untilOf(b.health))

const untilOf = (health: Health): number => (health.phase === 'closed' ? 0 : health.until)

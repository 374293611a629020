import { stateOf, type Health } from './health.js'

/** What decides the place of a target in the order. */
export interface Candidate<T> {
  readonly target: T
  readonly weight: number
  readonly health: Health
}

/**
 * The targets of a model in the order in which they are tried. A target to be probed comes first, then the others in
 * weighted random order with those of weight 0 last. Targets with an open breaker are left out unless all are open. `draw`
 * returns random numbers from 0 up to 1, or those of a session.
 */
export const inOrder = <T>(
  candidates: readonly Candidate<T>[],
  now: number,
  draw: (target: T) => number,
): readonly T[] => {
  const inState = (state: 'closed' | 'half-open') =>
    candidates.filter(({ health }) => stateOf(health, now) === state)
  const chosen = [...inState('half-open').slice(0, 1), ...shuffled(inState('closed'), draw)]
  return (chosen.length > 0 ? chosen : soonestFirst(candidates)).map(({ target }) => target)
}

/** Weighted random order without replacement (Efraimidis and Spirakis). */
const shuffled = <T>(
  candidates: readonly Candidate<T>[],
  draw: (target: T) => number,
): readonly Candidate<T>[] =>
  candidates
    .map((candidate) => ({ candidate, key: keyOf(candidate.weight, draw(candidate.target)) }))
    .sort((a, b) => b.key - a.key)
    .map(({ candidate }) => candidate)

/** Uses logarithms, because a power of a small number underflows to 0. Keys of weight 0 are below all others, in random order. */
const keyOf = (weight: number, drawn: number): number => {
  const chance = Math.max(drawn, Number.MIN_VALUE)
  return weight > 0 ? Math.log(chance) / weight : -1e6 - chance
}

const soonestFirst = <T>(candidates: readonly Candidate<T>[]): readonly Candidate<T>[] =>
  [...candidates].sort((a, b) => untilOf(a.health) - untilOf(b.health))

const untilOf = (health: Health): number => (health.phase === 'closed' ? 0 : health.until)

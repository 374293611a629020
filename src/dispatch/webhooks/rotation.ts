import { PassingMap, PassingSet } from '../../domain/passing.js'

/**
 * Endpoints that may have something due, each team in its turn and each of its endpoints in theirs. Whoever is not ready
 * is passed over and keeps its place; whoever has nothing to do leaves, until it is woken.
 */
export interface Rotation {
  /** An endpoint of another team than before is from now on that one's. */
  readonly add: (endpoint: string, team: string) => void
  readonly leave: (endpoint: string) => void
  /** Who was served goes to the end. */
  readonly served: (endpoint: string) => void
  /** In the order of their turns; teams that cannot be served are passed over as a whole. */
  readonly inTurn: (mayBeServed: (team: string) => boolean) => Iterable<string>
}

export const openRotation = (): Rotation => {
  const teams = new PassingMap<string, PassingSet<string>>()
  const teamOf = new PassingMap<string, string>()

  const leave = (endpoint: string) => {
    const team = teamOf.get(endpoint)
    if (team === undefined) return
    teamOf.delete(endpoint)
    const own = teams.get(team)
    own?.delete(endpoint)
    if (own?.size === 0) teams.delete(team)
  }

  return {
    add: (endpoint, team) => {
      if (teamOf.get(endpoint) === team) return
      leave(endpoint)
      teamOf.set(endpoint, team)
      teams.set(team, (teams.get(team) ?? new PassingSet<string>()).add(endpoint))
    },
    leave,
    served: (endpoint) => {
      const team = teamOf.get(endpoint)
      const own = team === undefined ? undefined : teams.get(team)
      if (team === undefined || own === undefined) return
      own.delete(endpoint)
      teams.delete(team)
      teams.set(team, own.add(endpoint))
    },
    inTurn: function* (mayBeServed) {
      for (const [team, endpoints] of teams) if (mayBeServed(team)) yield* endpoints
    },
  }
}

/** Of four messages three are new ones, as long as there are both: neither a backlog nor new ones hold the others up. */
export const prefersRetries = (sentBefore: number): boolean => sentBefore % 4 === 3

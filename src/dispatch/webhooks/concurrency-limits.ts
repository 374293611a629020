/**
 * How many attempts may run at once. `teamAndHost` keeps one team from using up a host's capacity; `hanging` counts the
 * endpoints of all teams whose last attempt timed out, so that they cannot take all slots.
 */
export interface Limits {
  readonly all: number
  readonly team: number
  readonly teamAndHost: number
  readonly hanging: number
}

export const DEFAULT_LIMITS: Limits = { all: 256, team: 64, teamAndHost: 32, hanging: 64 }

/** What an attempt is counted by. `host` is host and port. */
export interface SlotRequest {
  readonly webhook: string
  readonly team: string
  readonly host: string
  readonly hangs: boolean
}

export interface ConcurrencyLimits {
  readonly isFull: () => boolean
  readonly isTeamFull: (team: string) => boolean
  readonly hasRoom: (request: SlotRequest) => boolean
  /** Returns the function that releases the slot. */
  readonly acquire: (request: SlotRequest) => () => void
  /** Attempts of a webhook. */
  readonly of: (webhook: string) => number
}

export const concurrencyLimits = (limits: Limits = DEFAULT_LIMITS): ConcurrencyLimits => {
  const counts = new Map<string, number>()
  const count = (key: string) => counts.get(key) ?? 0
  const add = (key: string, by: number) => {
    const after = count(key) + by
    if (after === 0) counts.delete(key)
    else counts.set(key, after)
  }
  const isFull = () => count('all') >= limits.all
  const isTeamFull = (team: string) => count(`team ${team}`) >= limits.team

  return {
    isFull,
    isTeamFull,
    hasRoom: ({ team, host, hangs }) =>
      !isFull() &&
      !isTeamFull(team) &&
      count(`host ${team} ${host}`) < limits.teamAndHost &&
      (!hangs || count('hanging') < limits.hanging),
    acquire: ({ webhook, team, host, hangs }) => {
      const keys = ['all', `team ${team}`, `host ${team} ${host}`, `webhook ${webhook}`]
      if (hangs) keys.push('hanging')
      for (const key of keys) add(key, 1)
      return () => {
        for (const key of keys) add(key, -1)
      }
    },
    of: (webhook) => count(`webhook ${webhook}`),
  }
}

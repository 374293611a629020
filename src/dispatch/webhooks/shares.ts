import type { Ring } from './rotation.js'

/**
 * Whose slots an attempt takes. `host` is host and port; `hangs` is said of endpoints whose last attempt timed out, `isNew`
 * of those of which nothing is known yet.
 */
export interface Claim extends Ring {
  readonly host: string
  readonly isNew: boolean
}

/** How many attempts may be under way at once. */
export interface Limits {
  readonly all: number
  readonly team: number
  /** Of one team: what one team sends to a host must not delay what others send there. */
  readonly teamAndHost: number
  /** For all endpoints together that hang, so that half of the slots always serve the others. */
  readonly hanging: number
}

/** New endpoints of a team that answer are seldom so many at a time. */
const MANY_NEW = 16

export const USUAL_LIMITS: Limits = { all: 256, team: 64, teamAndHost: 32, hanging: 64 }

/** Slots for attempts, shared so that nobody's many or slow receivers take those of others. */
export interface Shares {
  readonly isFull: () => boolean
  readonly hasRoomFor: (ring: Ring) => boolean
  readonly allows: (claim: Claim) => boolean
  /** So many attempts at new endpoints of a team are under way that some of them are likely to hang. */
  readonly hasManyNew: (team: string) => boolean
  /** Gives the slots back when called. */
  readonly take: (claim: Claim) => () => void
  readonly inFlight: () => number
}

export const openShares = (limits: Limits = USUAL_LIMITS): Shares => {
  const teams = tally()
  const teamsAndHosts = tally()
  const newOnes = tally()
  let all = 0
  let hanging = 0
  const hasRoomFor = ({ team, hangs }: Ring) =>
    teams.of(team) < limits.team && (!hangs || hanging < limits.hanging)
  return {
    isFull: () => all >= limits.all,
    hasRoomFor,
    allows: (claim) =>
      all < limits.all && teamsAndHosts.of(teamAndHost(claim)) < limits.teamAndHost && hasRoomFor(claim),
    hasManyNew: (team) => newOnes.of(team) >= MANY_NEW,
    take: (claim) => {
      const { team, hangs, isNew } = claim
      all += 1
      teams.add(team, 1)
      teamsAndHosts.add(teamAndHost(claim), 1)
      if (hangs) hanging += 1
      if (isNew) newOnes.add(team, 1)
      return () => {
        all -= 1
        teams.add(team, -1)
        teamsAndHosts.add(teamAndHost(claim), -1)
        if (hangs) hanging -= 1
        if (isNew) newOnes.add(team, -1)
      }
    },
    inFlight: () => all,
  }
}

const teamAndHost = ({ team, host }: Claim): string => `${team} ${host}`

const tally = () => {
  const counts = new Map<string, number>()
  return {
    of: (name: string) => counts.get(name) ?? 0,
    add: (name: string, by: 1 | -1) => {
      const count = (counts.get(name) ?? 0) + by
      if (count === 0) counts.delete(name)
      else counts.set(name, count)
    },
  }
}

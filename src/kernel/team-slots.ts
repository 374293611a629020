/** Undefined for work of the service itself. */
export type Team = string | undefined

interface Waiter {
  readonly team: Team
  /** Before all others of the queue that are not. */
  readonly isAhead: boolean
  readonly take: () => void
}

/**
 * Slots for work that teams share, of which at most `limit` are in use. One team gets at most two thirds of them, so that its
 * slow work does not stop that of others. A free slot goes to the team that uses the fewest, in the order of the queue.
 */
export const teamSlots = (limit: () => number) => {
  const counts = new Map<Team, number>()
  const waiting: Waiter[] = []
  let used = 0

  const countOf = (team: Team) => counts.get(team) ?? 0
  const add = (team: Team, more: 1 | -1) => {
    used += more
    const count = countOf(team) + more
    if (count === 0) counts.delete(team)
    else counts.set(team, count)
  }
  const mayTake = (team: Team) => used < limit() && (team === undefined || countOf(team) < shareOf(limit()))
  const nextWaiter = (): Waiter | undefined => {
    let next: Waiter | undefined
    for (const waiter of waiting)
      if (mayTake(waiter.team) && (next === undefined || countOf(waiter.team) < countOf(next.team)))
        next = waiter
    return next
  }

  return {
    waiting: waiting as readonly Waiter[],

    /** Takes a slot at once. False, without one, where none is free for the team. */
    take: (team: Team): boolean => {
      if (!mayTake(team)) return false
      add(team, 1)
      return true
    },

    /** Calls `take` with a slot, later. Returns what leaves the queue. */
    wait: (team: Team, take: () => void, isAhead = false): (() => void) => {
      const waiter = { team, take, isAhead }
      const at = isAhead ? waiting.findIndex((other) => !other.isAhead) : -1
      waiting.splice(at === -1 ? waiting.length : at, 0, waiter)
      return () => void waiting.splice(waiting.indexOf(waiter), 1)
    },

    release: (team: Team): void => {
      add(team, -1)
      for (let next = nextWaiter(); next !== undefined; next = nextWaiter()) {
        waiting.splice(waiting.indexOf(next), 1)
        add(next.team, 1)
        next.take()
      }
    },
  }
}

/** What one team may have of something. */
export const shareOf = (all: number): number => Math.max(1, Math.floor((all * 2) / 3))

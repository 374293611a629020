/** How much a team may have written at once, of what it has much of. */
export interface Portions {
  /** A team had something to be written, and nothing of it has to wait. */
  readonly hasLittle: (team: string) => void
  readonly hasMuch: (team: string) => void
  readonly of: (team: string) => number
}

const FEW = 4
const MANY = 64
const RECENTLY_MS = 1000

/**
 * While others have little, who has much gets few: what those others write next hardly waits longer then. Where everybody
 * has much, or nobody else anything, portions are large, as each costs a sync of the disk.
 */
export const openPortions = (now: () => number): Portions => {
  /** Teams that had little, and when; the latest is last. */
  const little = new Map<string, number>()
  return {
    hasLittle: (team) => {
      little.delete(team)
      little.set(team, now())
    },
    hasMuch: (team) => void little.delete(team),
    of: (team) => {
      const since = now() - RECENTLY_MS
      for (const [other, at] of little) {
        if (at < since) little.delete(other)
        else if (other !== team) return FEW
      }
      return MANY
    },
  }
}

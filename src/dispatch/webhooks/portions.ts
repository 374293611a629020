/** How much a team may have written at once of what it has much of, and how long it rests behind that. */
export interface Portion {
  readonly most: number
  readonly restMs: number
}

export interface Portions {
  /** A team had something to be written, and nothing of it has to wait. */
  readonly hasLittle: (team: string) => void
  readonly hasMuch: (team: string) => void
  /** All that it had much of is being written. */
  readonly caughtUp: (team: string) => void
  readonly of: (team: string) => Portion
}

/**
 * Measured beside bursts of 300 a second, with rests that go on until something else is written, or as long again: one in
 * ten of what others write waits an eighth longer. With rests by the clock alone it was two fifths for one at a time, and
 * a half for twelve.
 */
const GENTLE: Portion = { most: 4, restMs: 6 }
const SMALL: Portion = { most: 4, restMs: 0 }
const LARGE: Portion = { most: 64, restMs: 0 }
const RECENTLY_MS = 1000
/** What takes no longer than this is over before anybody meets it. */
const SHORT_MS = 2
const LONG_MS = 2000
const HURRIED_FOR_MS = 10_000

/**
 * While others have little, who has much writes a few at a time and rests in between: most of what those others write
 * meets none of it then. Whose much does not end within two seconds so, since more comes than goes, does not rest from
 * then on until it has had little for a while. Where everybody has much, or nobody else anything, portions are large, as
 * each costs a sync of the disk.
 */
export const openPortions = (now: () => number): Portions => {
  /** Teams that had little, and when; the latest is last. */
  const little = new Map<string, number>()
  /** Teams that have much, and since when. */
  const much = new Map<string, number>()
  /** Teams that had too much to rest, and when they last had much. */
  const hurried = new Map<string, number>()
  const hasOneBeside = (team: string): boolean => {
    const since = now() - RECENTLY_MS
    for (const [other, at] of little) {
      if (at < since) little.delete(other)
      else if (other !== team) return true
    }
    return false
  }
  const isHurried = (team: string, forMs: number): boolean => {
    const before = hurried.get(team)
    if (forMs < LONG_MS && (before === undefined || now() - before >= HURRIED_FOR_MS)) {
      hurried.delete(team)
      return false
    }
    hurried.set(team, now())
    return true
  }
  return {
    hasLittle: (team) => {
      much.delete(team)
      little.delete(team)
      little.set(team, now())
    },
    hasMuch: (team) => {
      if (!much.has(team)) much.set(team, now())
      little.delete(team)
    },
    caughtUp: (team) => void much.delete(team),
    of: (team) => {
      if (!hasOneBeside(team)) return LARGE
      const forMs = now() - (much.get(team) ?? now())
      return forMs < SHORT_MS || isHurried(team, forMs) ? SMALL : GENTLE
    },
  }
}

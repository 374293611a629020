/** Measures for how long single steps hold the event loop. */
export interface LoopWatch {
  /** Measures until the returned function is called; `where` is the route or the follower that works. */
  readonly begin: (where: () => string) => () => void
}

interface Work {
  readonly where: () => string
  readonly since: number
}

/** While something works. An idle service has no timer. */
const EVERY_MS = 50

/** Shorter delays are also those of timers. */
const LEAST_MS = 10

/** Work that takes longer mostly waits, such as an open stream, and must not keep a timer. */
const LONGEST_MS = 60_000

const MOST_NAMES = 10

/**
 * A timer that is late shows that a step, or a busy machine, held the event loop. `held` gets how late it is, and the
 * works in progress, the latest first.
 */
export const watchLoop = (held: (seconds: number, where: readonly string[]) => void): LoopWatch => {
  const works = new Set<Work>()
  let timer: NodeJS.Timeout | undefined
  let due = 0

  const arm = () => {
    due = performance.now() + EVERY_MS
    timer = setTimeout(tick, EVERY_MS).unref()
  }
  const tick = () => {
    timer = undefined
    const now = performance.now()
    const names = new Set([...works].reverse().map(({ where }) => where()))
    if (now - due >= LEAST_MS && names.size > 0) held((now - due) / 1000, [...names].slice(0, MOST_NAMES))
    for (const work of works) if (now - work.since > LONGEST_MS) works.delete(work)
    if (works.size > 0) arm()
  }

  return {
    begin: (where) => {
      const work = { where, since: performance.now() }
      works.add(work)
      if (timer === undefined) arm()
      return () => {
        // The timer is late, perhaps because of this work, which it then reports.
        if (performance.now() - due >= LEAST_MS) setTimeout(() => works.delete(work), 1).unref()
        else works.delete(work)
      }
    },
  }
}

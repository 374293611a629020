/**
 * What nobody waits for is written together with what is written anyway: it costs no turn and no sync of its own then,
 * which others would meet.
 */
export interface Company {
  /** Resolves when something else is about to be written, at the latest after so many milliseconds. */
  readonly wait: (atMostMs: number) => Promise<void>
  /** Something is about to be written, and whoever waits goes along. */
  readonly setOff: () => void
}

export const openCompany = (): Company => {
  const waiting = new Set<() => void>()
  return {
    wait: (atMostMs) =>
      new Promise((resolve) => {
        const go = () => {
          clearTimeout(timer)
          waiting.delete(go)
          resolve()
        }
        const timer = setTimeout(go, atMostMs)
        waiting.add(go)
      }),
    setOff: () => {
      for (const go of waiting) go()
    },
  }
}

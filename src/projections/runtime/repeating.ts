/** Work in the background that repeats until it is stopped. */
export interface Repeating {
  readonly stop: () => Promise<void>
  /** For an exchange of the tables: the work continues with what it then finds. */
  readonly whileStopped: (exchange: () => Promise<void>) => Promise<void>
}

/** Starts `repeat`, which ends soon after its signal is aborted. */
export const repeating = (repeat: (signal: AbortSignal) => Promise<void>): Repeating => {
  let stopping = new AbortController()
  let ended = repeat(stopping.signal)
  const stop = async (): Promise<void> => {
    stopping.abort()
    await ended
  }
  return {
    stop,
    whileStopped: async (exchange) => {
      await stop()
      try {
        await exchange()
      } finally {
        stopping = new AbortController()
        ended = repeat(stopping.signal)
      }
    },
  }
}

const LONGEST_MS = 10

/** For long computations: called often, it returns a pause once some milliseconds have passed, so that other requests are served. */
export const yielding = (): (() => Promise<void> | undefined) => {
  let since = performance.now()
  return () => {
    if (performance.now() - since < LONGEST_MS) return undefined
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now()
        resolve()
      }),
    )
  }
}

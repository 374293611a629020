const LONGEST_MS = 10

/** For long computations. Call it often: it returns a promise to await once 10 ms have passed since the last pause. */
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

export interface CleanupStack {
  readonly add: (step: () => unknown) => void
  /** Runs all steps, the last one added first, also after one of them failed. */
  readonly run: () => Promise<void>
}

/** Closes what was opened, in reverse order. `AsyncDisposableStack` is not in Node 20. */
export const cleanupStack = (): CleanupStack => {
  const steps: (() => unknown)[] = []
  const run = async (): Promise<void> => {
    const step = steps.pop()
    if (step === undefined) return
    try {
      await step()
    } finally {
      await run()
    }
  }
  return { add: (step) => void steps.push(step), run }
}

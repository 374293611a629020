import { setImmediate as turn } from 'node:timers/promises'

const LONGEST_MS = 10

/** For long work: lets other requests have their turn once it has gone on for some milliseconds. */
export const breathing = (): (() => Promise<void> | undefined) => {
  let since = performance.now()
  return () => {
    if (performance.now() - since < LONGEST_MS) return undefined
    return turn().then(() => {
      since = performance.now()
    })
  }
}

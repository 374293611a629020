import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until the condition holds. The limit is far above what a slow machine needs. */
export const until = async (holds: () => boolean | Promise<boolean>, withinMs = 100_000): Promise<void> => {
  const deadline = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`the condition did not hold within ${withinMs} ms`)
    await sleep(5)
  }
}

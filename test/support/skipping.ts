import { spawnSync } from 'node:child_process'
import type { Context } from 'mocha'

/** Skips the running test, with the reason in its title: not every adapter can be put into every situation. */
export const skip = (context: Context, reason: string): never => {
  if (context.test !== undefined) context.test.title += ` (skipped: ${reason})`
  return context.skip()
}

/** `it`, where the machine has these programs; elsewhere the title says which one is missing. */
export const itWith = (...tools: readonly string[]) => {
  const missing = tools.find((tool) => spawnSync(tool, ['version']).error !== undefined)
  return (title: string, check: () => void | Promise<void>): void => {
    if (missing === undefined) it(title, check)
    else it.skip(`${title} (skipped: ${missing} is missing)`)
  }
}

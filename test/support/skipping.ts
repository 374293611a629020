import { spawnSync } from 'node:child_process'
import type { Context } from 'mocha'

/** Skips the running test, with the reason in its title: not every adapter can be put into every situation. */
export const skip = (context: Context, reason: string): never => {
  if (context.test !== undefined) context.test.title += ` (skipped: ${reason})`
  return context.skip()
}

/** `it`, where the condition holds; elsewhere the title says why the test is left out. */
export const itWhen = (holds: boolean, reason: string) =>
  holds ? it : (title: string, _check: Check) => it.skip(`${title} (skipped: ${reason})`)

type Check = () => void | Promise<void>

/** `it`, where the machine has these programs; elsewhere the title says which one is missing. */
export const itWith = (...tools: readonly string[]) => {
  const missing = tools.find((tool) => spawnSync(tool, ['version']).error !== undefined)
  return itWhen(missing === undefined, `${missing} is missing`)
}

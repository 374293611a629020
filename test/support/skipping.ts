import type { Context } from 'mocha'

/** Skips the running test, with the reason in its title: not every adapter can be put into every situation. */
export const skip = (context: Context, reason: string): never => {
  if (context.test !== undefined) context.test.title += ` (skipped: ${reason})`
  return context.skip()
}

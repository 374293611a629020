import type { ExpectedUsage, Metered } from '../../../src/gateway/answer/usage.js'
import { meteredWhole } from '../../../src/gateway/answer/whole-answer.js'
import type { Json } from '../../../src/kernel/json/json.js'

export const expectedOf = (promptTokens: number, mostTokens = Infinity): ExpectedUsage => ({
  promptTokens,
  mostTokens,
})

/** How a whole answer with a report of usage is metered. */
export const meteredWith = (
  usage: Json,
  { content = '', expected = expectedOf(2) }: { content?: string; expected?: ExpectedUsage } = {},
): Metered => meteredWhole({ choices: [{ message: { content } }], usage }, expected)

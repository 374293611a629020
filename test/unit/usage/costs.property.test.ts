import assert from 'node:assert/strict'
import fc from 'fast-check'
import { COUNTS } from '../../counts.js'
import { arbitraryUsageCase } from '../../support/oracle/cases.js'
import { costsAfter, isEqual, type Fraction } from '../../support/oracle/costs.js'
import { PROJECT } from '../../support/oracle/given.js'
import { answer } from '../../support/oracle/oracle.js'
import type { Answer } from '../../support/oracle/operations.js'
import { answersOf, arbitraryHandling, type Pricing } from './handling.js'
import { pretendedTables } from './pretended-tables.js'
import { arbitraryLives, fraction, pricesOf, standing } from './prices.js'

const CASES = COUNTS.usageCosts

const COSTS = [
  'prompt_tokens_total_cost',
  'completion_tokens_total_cost',
  'cache_read_input_tokens_total_cost',
  'cache_creation_input_tokens_total_cost',
] as const

const withoutCosts = ({ call_usage, ...rest }: Answer) => ({
  ...rest,
  call_usage: JSON.parse(
    JSON.stringify(call_usage, (key, value: unknown) => (key.endsWith('_total_cost') ? null : value)),
  ) as unknown,
})

describe('costs with all descendants', () => {
  it(`are what exact fractions say in ${CASES} random cases, at every position`, async function () {
    this.timeout(0)
    const law = fc.asyncProperty(
      arbitraryUsageCase,
      arbitraryHandling,
      arbitraryLives,
      fc.constantFrom(null, null, 'default', 'other'),
      async (usageCase, handling, lives, list) => {
        const pricing: Pricing = { list, prices: pricesOf(PROJECT, lives) }
        const tables = pretendedTables(65_536, 65_536)
        const all = await answersOf(tables, usageCase, handling, PROJECT, pricing)
        for (const { known, position, answer: answered, costs: texts, unpriced } of all) {
          const expected = answer(known, usageCase.question)
          assert.deepEqual(withoutCosts(answered), expected)
          const oracle = costsAfter(known, standing(lives, list, position))
          for (const [callId, usage] of Object.entries(expected.call_usage))
            for (const model of Object.keys(usage)) {
              const told = COSTS.map((cost) => signed(texts(callId, model, cost)))
              oracle.of(callId, model).forEach((cost, kind) => assert.ok(isEqual(told[kind]!, cost)))
            }
          const without = new Set(Object.keys(expected.call_usage).flatMap((id) => oracle.unpriced(id)))
          assert.deepEqual(unpriced, [...without].sort())
        }
      },
    )
    await fc.assert(law, { numRuns: CASES })
  })
})

const signed = (text: string): Fraction => {
  const [numerator, denominator] = fraction(text.replace('-', ''))
  return [text.startsWith('-') ? -numerator : numerator, denominator]
}

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { microseconds, type Instant } from '../../src/domain/codec/instant.js'
import { priceContent, type PricePublished } from '../../src/domain/price/events.js'
import { arbitraryOf } from '../support/arbitrary-of-codec.js'
import { arbitraryUsageCase } from '../support/oracle/cases.js'
import { costsAfter, isEqual, type Fraction, type OraclePrice } from '../support/oracle/costs.js'
import { PROJECT } from '../support/oracle/given.js'
import { answer } from '../support/oracle/oracle.js'
import { MODELS } from '../support/oracle/pools.js'
import type { Answer } from '../support/oracle/operations.js'
import { answersOf, arbitraryHandling, type Pricing } from './handling.js'
import { pretendedTables } from './pretended-tables.js'

const CASES = Number(process.env['TALLYTREE_COST_CASES'] ?? 1500)

const COSTS = [
  'prompt_tokens_total_cost',
  'completion_tokens_total_cost',
  'cache_read_input_tokens_total_cost',
  'cache_creation_input_tokens_total_cost',
] as const

/** Those around which the calls of a case start. */
const arbitraryDate = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom('1900-01-01T00:00:00.000000Z', '2299-12-31T23:59:59.999999Z') },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.nat(40), fc.constantFrom(1, 1000, 1_000_000))
      .map(([ticks, tick]) => startOf2025(ticks * tick)),
  },
) as fc.Arbitrary<Instant>

const startOf2025 = (microseconds: number): string => {
  const second = new Date(Date.UTC(2025, 0, 1) + Math.floor(microseconds / 1e6) * 1000).toISOString()
  return `${second.slice(0, 19)}.${String(microseconds % 1e6).padStart(6, '0')}Z`
}

const arbitraryLife = fc.record({
  price: arbitraryOf(priceContent),
  model: fc.constantFrom('gpt-4', 'gpt-4', 'gpt-3', ...MODELS).map((model) => model.toWellFormed()),
  effective_date: arbitraryDate,
  owner: fc.constantFrom(PROJECT, 'default', 'default', 'other'),
  /** Events of the calls that come before, of which each has three positions. */
  published: fc.oneof(fc.constant(0), fc.nat(20)),
  withdrawn: fc.option(fc.nat(20), { freq: 2 }),
})

interface Life {
  readonly data: PricePublished
  readonly at: bigint
  readonly until: bigint | null
}

const arbitraryLives = fc.array(arbitraryLife, { maxLength: 12 }).map((lives) =>
  lives.map(({ price, model, effective_date, owner, published, withdrawn }, index): Life => {
    const ofProject = owner === PROJECT
    const data = {
      ...{ ...price, llm_id: model, effective_date, id: `price-${index}` },
      ...{ project_id: ofProject ? PROJECT : null, list: ofProject ? null : owner },
      ...{ created_by: 'user', created_at: effective_date },
    }
    // one position of its own for each, so that which was given last is told
    const at = BigInt(published * 12 + index + 1)
    return { data, at, until: withdrawn === null ? null : at + BigInt(withdrawn * 12) + 1n }
  }),
)

const eventsOf = (lives: readonly Life[]) =>
  lives.flatMap(({ data, at, until }) => [
    { type: 'PricePublished', data, position: at },
    ...(until === null ? [] : [{ type: 'PriceWithdrawn', data, position: until }]),
  ])

const standing = (lives: readonly Life[], list: string | null, position: bigint): readonly OraclePrice[] =>
  lives
    .filter(({ at, until }) => at <= position && (until === null || until > position))
    .filter(({ data }) => (list === null ? data.list !== 'other' : data.list === list))
    .toSorted((a, b) => Number(a.at - b.at))
    .map(({ data }) => ({
      model: data.llm_id,
      ofProject: data.project_id !== null,
      effective: microseconds(data.effective_date),
      costs: [
        fraction(data.prompt_token_cost),
        fraction(data.completion_token_cost),
        fraction(data.cache_read_input_token_cost),
        fraction(data.cache_creation_input_token_cost),
      ],
    }))

const fraction = (text: string): Fraction => {
  const [whole = '', decimals = ''] = text.split('.')
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)]
}

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
        const pricing: Pricing = { list, prices: eventsOf(lives) }
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

import fc from 'fast-check'
import { FIGURES, type ModelUsage } from '../../../../src/domain/calls/usage/reported.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import type { TokenCosts } from '../../../../src/domain/prices/change.js'
import { DEFAULT_LIST, teamsList } from '../../../../src/domain/prices/events.js'
import type { ChargedCall } from '../../../../src/domain/calls/call-cost.js'

/** A price that one of a few owners publishes, or the withdrawal of one of theirs. */
export type ArbitraryPrice =
  | {
      readonly kind: 'published'
      readonly owner: string
      readonly model: string
      readonly from: Instant
      readonly costs: TokenCosts
    }
  | { readonly kind: 'withdrawn'; readonly which: number }

const instant = fc
  .constantFrom('1900-01-01T00:00:00.000000', '2026-01-01T00:00:00.000001', '2026-01-02T00:00:00.000000')
  .chain((one) => fc.constantFrom(one, '2026-01-01T00:00:00.000002', '2299-12-31T23:59:59.999999'))
  .map((text) => `${text}Z` as Instant)

/** Some are the beginnings of others, or would be if they were not told apart. */
const model = fc.constantFrom('m', 'm', 'm ', 'm" ', 'm\n', 'other')
const cost = fc.constantFrom('0', '1', '0.5', '0.000000000001', '1000000000000')

export const arbitraryPrice: fc.Arbitrary<ArbitraryPrice> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('published' as const),
      owner: fc.constantFrom('team/p', 'team/q', teamsList('team'), teamsList('red'), DEFAULT_LIST, 'cheap'),
      model,
      from: instant,
      costs: fc.oneof(
        fc.tuple(cost, cost, cost, cost, cost),
        fc.tuple(cost, cost, cost, cost, cost, fc.constant([]), cost, cost, cost),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdrawn' as const), which: fc.nat() }) },
)

const figure = fc.oneof(fc.integer({ min: -2, max: 9 }), fc.constantFrom(2 ** 51, -(2 ** 51)))
const usage: fc.Arbitrary<ModelUsage> = fc.record({
  model: fc.oneof(model, fc.constant('unknown')),
  ...(Object.fromEntries(FIGURES.map((name) => [name, figure])) as Record<
    (typeof FIGURES)[number],
    typeof figure
  >),
})

export const arbitraryCharged: fc.Arbitrary<ChargedCall> = fc.record({
  project_id: fc.constantFrom('team/p', 'team/p', 'red/p'),
  started_at: instant,
  models: fc.uniqueArray(usage, { selector: (one) => one.model, maxLength: 3 }),
})

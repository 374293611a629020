import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import { priceAt, timelineOf, type Candidate } from '../../../../src/domain/prices/choice.js'

const arbitraryDay = fc
  .integer({ min: 10, max: 20 })
  .map((day) => `2026-01-${day}T00:00:00.000000Z` as Instant)

const arbitraryCandidate: fc.Arbitrary<Candidate> = fc.record({
  effective_date: arbitraryDay,
  level: fc.constantFrom('project', 'default'),
})

/** The ranking as it is told: in force before future, project before default, the latest date, the one given last. */
const ranked = (prices: readonly Candidate[], started: Instant): Candidate | undefined =>
  prices
    .map((price, given) => ({ price, given }))
    .toSorted((a, b) => {
      const future = (one: typeof a) => Number(one.price.effective_date > started)
      const ofList = (one: typeof a) => Number(one.price.level === 'default')
      return (
        future(a) - future(b) ||
        ofList(a) - ofList(b) ||
        b.price.effective_date.localeCompare(a.price.effective_date) ||
        b.given - a.given
      )
    })[0]?.price

describe('the choice of a price', () => {
  it('is that of the ranking, for a call of any time', () =>
    fc.assert(
      fc.property(fc.array(arbitraryCandidate), arbitraryDay, (prices, started) => {
        const timeline = timelineOf(prices)
        assert.equal(timeline === undefined ? undefined : priceAt(timeline, started), ranked(prices, started))
      }),
    ))

  it('falls on the latest of the future where nothing is in force, on a list before a future price of the project', () => {
    const at = (day: number) => `2026-01-${day}T00:00:00.000000Z` as Instant
    const list = { effective_date: at(10), level: 'default' } as const
    const [soon, late] = [11, 12].map((day) => ({ effective_date: at(day), level: 'project' }) as const)
    const timeline = timelineOf([late!, list, soon!])!
    assert.equal(priceAt(timeline, at(10)), list)
    assert.equal(priceAt(timeline, at(11)), soon)
    assert.equal(priceAt(timeline, '2025-01-01T00:00:00.000000Z' as Instant), late)
  })
})

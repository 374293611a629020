import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import type { OfferedPrice, PriceCommand } from '../../../../src/domain/prices/commands.js'
import { priceDecider } from '../../../../src/domain/prices/decider.js'
import { priceContent, type PriceContent, type PriceEvent } from '../../../../src/domain/prices/events.js'
import type { PriceState } from '../../../../src/domain/prices/state.js'
import { arbitraryOf } from '../../../support/arbitrary-of-codec.js'

const { initialState, evolve, decide } = priceDecider
const now = '2026-01-01T00:00:00.000000Z' as Instant
const later = '2026-01-02T00:00:00.000000Z' as Instant
const owner = { project_id: 'team/project', list: null }

const after = (events: readonly PriceEvent[], from: PriceState = initialState()) =>
  events.reduce(evolve, from)
const typesOf = (events: readonly PriceEvent[]) => events.map(({ type }) => type)

const publish = (id: string, price: OfferedPrice, when = now): PriceCommand => ({
  type: 'PublishPrices',
  owner,
  prices: [{ id, price }],
  userId: 'ada',
  now: when,
})

const someImport = (
  prices: readonly (readonly [string, PriceContent])[],
  more: object = {},
): PriceCommand => ({
  type: 'ImportPrices',
  list: 'list',
  version: 'v1',
  source: 'somewhere',
  prices: prices.map(([id, price]) => ({ id, price })),
  once: false,
  userId: 'ada',
  now,
  ...more,
})

const arbitraryPrice = arbitraryOf(priceContent)
const arbitraryOffer = fc
  .tuple(arbitraryPrice, fc.boolean())
  .map(([price, dated]): OfferedPrice => ({ ...price, effective_date: dated ? price.effective_date : null }))

describe('the decider of prices', () => {
  it('publishes a price once, under whichever id it is repeated', () =>
    fc.assert(
      fc.property(arbitraryOffer, (price) => {
        const { events } = decide(initialState(), publish('one', price))
        assert.deepEqual(typesOf(events), ['PricePublished'])
        for (const id of ['one', 'two'])
          assert.deepEqual(decide(after(events), publish(id, price, later)), { events: [] })
      }),
    ))

  it('publishes what was withdrawn anew, under another id only', () =>
    fc.assert(
      fc.property(arbitraryOffer, (price) => {
        const published = after(decide(initialState(), publish('one', price)).events)
        const withdraw: PriceCommand = { type: 'WithdrawPrice', owner, id: 'one' }
        const withdrawn = after(decide(published, withdraw).events, published)
        assert.deepEqual(decide(withdrawn, withdraw), { events: [] })
        assert.deepEqual(decide(withdrawn, publish('one', price)), { events: [] })
        assert.deepEqual(typesOf(decide(withdrawn, publish('two', price)).events), ['PricePublished'])
      }),
    ))

  it('takes a price without a date for new once another is in force', () =>
    fc.assert(
      fc.property(arbitraryPrice, (content) => {
        const price = { ...content, effective_date: null }
        const other = { ...price, provider_id: `${price.provider_id}x` }
        let state = initialState()
        for (const [id, one] of [
          ['a', price],
          ['b', other],
          ['c', price],
        ] as const) {
          const { events } = decide(state, publish(id, one, later))
          assert.deepEqual(typesOf(events), ['PricePublished'])
          state = after(events, state)
        }
      }),
    ))

  it('takes all prices of a command or none', () =>
    fc.assert(
      fc.property(arbitraryPrice, (price) => {
        const state = after(decide(initialState(), publish('one', price)).events)
        const other = { ...price, provider_id: `${price.provider_id}x` }
        const command = {
          ...publish('two', other),
          prices: ['two', 'one'].map((id) => ({ id, price: other })),
        }
        const { events, refused } = decide(state, command)
        assert.deepEqual([events, refused?.kind], [[], 'conflict'])
      }),
    ))

  it('imports a list once, and puts a price of the same model and date in the place of another', () =>
    fc.assert(
      fc.property(arbitraryPrice, (price) => {
        const imported = decide(initialState(), someImport([['one', price]]))
        assert.deepEqual(typesOf(imported.events), ['PricePublished', 'PriceListImported'])
        const state = after(imported.events)
        assert.deepEqual(decide(state, someImport([['two', price]])), { events: [] })

        const other = { ...price, provider_id: `${price.provider_id}x` }
        const changed = decide(state, someImport([['three', other]]))
        assert.deepEqual(typesOf(changed.events), ['PricePublished', 'PriceWithdrawn', 'PriceListImported'])
        assert.deepEqual(decide(state, someImport([['three', other]], { once: true })), { events: [] })
      }),
    ))
})

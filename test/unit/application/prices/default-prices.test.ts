import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { publishDefaultPrices } from '../../../../src/application/prices/default-prices.js'
import { load } from '../../../../src/kernel/execute.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { priceDecider } from '../../../../src/domain/prices/decider.js'
import { standingFor } from '../../../../src/domain/prices/state.js'
import { scratchDirectory } from '../../../support/scratch.js'

describe('the default price list', () => {
  let eventStore: EventStore
  const ports = () => ({ eventStore, ids: { next: () => randomUUID() }, clock: { now: () => new Date() } })
  beforeEach(async () => {
    eventStore = openSqliteEventStore(join(await scratchDirectory(), 'events.db'))
  })
  afterEach(() => eventStore.close())

  const pricesOf = async (model: string) => {
    const { state } = await load(ports(), priceDecider, 'price-default')
    return standingFor(state, model).map(({ price }) => price)
  }

  it("prices cached tokens as the prompt's where it states nothing else", async () => {
    await publishDefaultPrices(ports())
    const [price] = await pricesOf('gpt-4')
    assert.equal(price?.cache_read_input_token_cost, price?.prompt_token_cost)
    assert.equal(price?.cache_creation_input_token_cost, price?.prompt_token_cost)
    const [discounted] = await pricesOf('gpt-4o-mini')
    assert.equal(discounted?.cache_read_input_token_cost, '0.000000075')
  })

  it('replaces the prices of 0 for cached tokens that an earlier release imported', async () => {
    await publishDefaultPrices(ports())
    const [price] = await pricesOf('gpt-4')
    const earlier = { ...price, cache_read_input_token_cost: '0', cache_creation_input_token_cost: '0' }
    const metadata = { correlationId: 'c', causationId: 'c', actor: 'system', schemaVersion: 1 }
    const events = [
      ['PricePublished', { ...earlier, project_id: null, list: 'default', id: 'earlier' }],
      ['PriceListImported', { list: 'default', version: '2025-08', source: 'somewhere', prices: 1 }],
    ] as const
    await eventStore.close()
    eventStore = openSqliteEventStore(join(await scratchDirectory(), 'events.db'))
    await eventStore.append(
      'price-default',
      'none',
      events.map(([type, data]) => ({ id: randomUUID(), type, data, metadata })),
    )
    await publishDefaultPrices(ports())
    assert.deepEqual(await pricesOf('gpt-4'), [price])
  })
})

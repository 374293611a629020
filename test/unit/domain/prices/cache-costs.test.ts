import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { gatewayCallIn } from '../../../../src/domain/gateway/limits/gateway-call.js'
import { decode } from '../../../../src/kernel/codec/codec.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { priceChange } from '../../../../src/domain/prices/change.js'
import type { PriceEvent } from '../../../../src/domain/prices/events.js'
import { contentsOf, priceListFile } from '../../../../src/domain/prices/list-file.js'
import { evolve, noPrices } from '../../../../src/domain/prices/state.js'
import { modelPrice } from '../../../../src/domain/gateway/upstreams/content.js'
import { evolve as evolveUpstreams } from '../../../../src/domain/gateway/upstreams/directory.js'
import type { UpstreamEvent } from '../../../../src/domain/gateway/upstreams/events.js'
import { pricesProjection } from '../../../../src/projections/prices/project.js'
import { aCall, recorded, started } from '../gateway/limits/given.js'
import { aContent, aModel } from '../gateway/upstreams/given.js'

const READ = 'cache_read_input_token_cost'
const CREATION = 'cache_creation_input_token_cost'

const cacheCostsOf = (price: object | null | undefined) => {
  const costs = price as Readonly<Record<string, unknown>>
  return [costs[READ], costs[CREATION]]
}

const decoded = <A>(result: E.Either<unknown, A>): A => {
  assert.ok(E.isRight(result))
  return result.right
}

describe('the cost of cached tokens', () => {
  const listed = (more: object) => {
    const price = {
      llm_id: 'm',
      effective_date: '2026-01-01T00:00:00Z',
      prompt_token_cost: 0.5,
      completion_token_cost: 2,
      ...more,
    }
    const file = decoded(decode(priceListFile)({ version: '1', source: 'a test', prices: [price] }))
    return cacheCostsOf(contentsOf(file)[0])
  }
  const upstreamPrice = (more: object) =>
    cacheCostsOf(
      decoded(decode(modelPrice)({ prompt_token_cost: '0.5', completion_token_cost: '2', ...more })),
    )

  for (const [of, costs, said] of [
    ['a list', listed, (cost: number) => cost],
    ['an upstream', upstreamPrice, String],
  ] as const) {
    it(`is the prompt's in a price of ${of} that does not state it`, () =>
      assert.deepEqual(costs({}), ['0.5', '0.5']))
    it(`is 0 in a price of ${of} that states 0`, () =>
      assert.deepEqual(costs({ [READ]: said(0), [CREATION]: said(0) }), ['0', '0']))
    it(`is as stated in a price of ${of} that states one of them`, () => {
      assert.deepEqual(costs({ [READ]: said(0.125) }), ['0.125', '0.5'])
      assert.deepEqual(costs({ [CREATION]: said(0.75) }), ['0.5', '0.75'])
    })
  }

  describe('in an event of the log that does not state it', () => {
    const bare = { prompt_token_cost: '0.5', completion_token_cost: '2' }
    const data = {
      project_id: 'team/project',
      list: null,
      id: 'one',
      llm_id: 'm',
      ...bare,
      effective_date: '2026-01-01T00:00:00.000000Z',
      created_at: '2026-01-01T00:00:00.000000Z',
      prompt_token_cost_unit: 'USD',
      completion_token_cost_unit: 'USD',
      provider_id: 'default',
      created_by: null,
    }

    it("is the prompt's for the decider of prices", () => {
      const { known } = evolve(noPrices(), { type: 'PricePublished', data } as unknown as PriceEvent)
      assert.deepEqual(cacheCostsOf(known.get('one')), ['0.5', '0.5'])
    })

    it("is the prompt's for automations", () => {
      const event = recorded({ type: 'PricePublished', stream: 'price-team/project', data }, 1)
      const change = priceChange(event)
      assert.ok(change?.kind === 'published')
      assert.deepEqual(change.costs, ['0.5', '2', '0.5', '0.5', '0.5'])
    })

    it("is the prompt's for the read models", () => {
      const [rows] = pricesProjection.rowsOf([{ type: 'PricePublished', data, position: 1n }])
      const [values] = rows!.values
      const row = Object.fromEntries(rows!.columns.map((column, at) => [column, values![at]]))
      assert.deepEqual(cacheCostsOf(row), ['0.5', '0.5'])
    })

    it("is the prompt's for upstreams", () => {
      const content = aContent({ models: [aModel('m', { price: bare as never })] })
      const event = { type: 'UpstreamCreated', data: { id: 'one', team: null, ...content } }
      const upstreams = evolveUpstreams(new Map(), event as unknown as UpstreamEvent)
      assert.deepEqual(cacheCostsOf(upstreams.get('one')!.content.models[0]!.price), ['0.5', '0.5'])
    })

    it("is the prompt's for the budget of a completion", () => {
      const call = { ...aCall('a'), price: bare as never }
      assert.deepEqual(cacheCostsOf(gatewayCallIn(recorded(started(call), 1))?.price), ['0.5', '0.5'])
    })

    it('stays 0 where the event states 0', () => {
      const stated: JsonObject = { ...data, [READ]: '0', [CREATION]: '0' }
      const change = priceChange(
        recorded({ type: 'PricePublished', stream: 'price-team/project', data: stated }, 1),
      )
      assert.ok(change?.kind === 'published')
      assert.deepEqual(change.costs, ['0.5', '2', '0', '0', '0'])
    })
  })
})

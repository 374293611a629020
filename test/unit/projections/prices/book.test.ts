import assert from 'node:assert/strict'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import { priceAt } from '../../../../src/domain/prices/choice.js'
import { DEFAULT_LIST, teamsList } from '../../../../src/domain/prices/events.js'
import { bookOf } from '../../../../src/projections/prices/book.js'
import { storedPrice } from '../../../../src/projections/prices/stored-price.js'

const at = (month: number): Instant => `2026-0${month}-01T00:00:00.000000Z` as Instant

const price = (owner: string, month: number, cost: string) => ({
  ...storedPrice({}),
  owner,
  llm_id: 'chat',
  prompt_token_cost: cost,
  effective_date: at(month),
  completion_token_cost: '0',
  cache_read_input_token_cost: '0',
  cache_creation_input_token_cost: '0',
  cache_creation_1h_input_token_cost: '0',
})

describe('the prices of a team’s upstreams', () => {
  it('hold from their first date on in the place of the default list’s, and behind a project’s own', () => {
    const stored = [
      price(DEFAULT_LIST, 1, '1'),
      price(teamsList('red'), 3, '3'),
      price(DEFAULT_LIST, 5, '5'),
      price(teamsList('red'), 6, '6'),
      price('red/own', 7, '7'),
      price(DEFAULT_LIST, 8, '8'),
    ]
    const { timelines } = bookOf(stored, 'red/own', undefined)
    const costs = [2, 4, 5, 6, 7, 9].map(
      (month) => priceAt(timelines.get('chat')!, at(month)).stored.prompt_token_cost,
    )
    assert.deepEqual(costs, ['1', '3', '3', '6', '7', '7'])
  })
})

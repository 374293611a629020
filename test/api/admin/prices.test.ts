import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted, eventsOf, reasonOf, textIn, told, writesNothing } from '../calls/given.js'
import { someCosts } from '../prices/given.js'

const price = (llm_id: string, more: object = {}) => ({
  llm_id,
  effective_date: '2026-01-01T00:00:00Z',
  ...someCosts(),
  ...more,
})

describe('price lists', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  const someList = () => `list-${randomUUID()}`
  const file = (list: string, prices: readonly object[], more: object = {}) => ({
    list,
    version: '1',
    source: 'a test',
    prices,
    ...more,
  })
  const post = (body: object, options?: object) => service.post('/api/admin/prices', body, options)

  it('are imported once; a price of the same model and date gives way to a new one', async () => {
    const list = someList()
    const prices = [price('a'), price('b')]
    assert.deepEqual(accepted(await post(file(list, prices))), {
      list,
      version: '1',
      published: 2,
      withdrawn: 0,
      unchanged: 0,
    })
    await writesNothing(service, async () => {
      const { published, unchanged } = accepted(await post(file(list, prices)))
      assert.deepEqual([published, unchanged], [0, 2])
    })
    const next = [
      price('a', { prompt_token_cost: 3 }),
      price('b', { effective_date: '2026-02-01T00:00:00Z' }),
    ]
    const { published, withdrawn } = accepted(await post(file(list, next, { version: '2' })))
    assert.deepEqual([published, withdrawn], [2, 1])
    const types = (await eventsOf(service, `price-${list}`)).map(({ type }) => type)
    assert.deepEqual(types.slice(0, 3), ['PricePublished', 'PricePublished', 'PriceListImported'])
    assert.equal(types.at(-1), 'PriceListImported')
  })

  it('are for the administrator alone', async () => {
    const added = await service.post('/api/teams/default/members', { user: randomUUID(), role: 'member' })
    const key = textIn(accepted(added), 'api_key')
    await writesNothing(service, async () => {
      reasonOf(await post(file(someList(), []), { key }), 403)
    })
  })

  it('are refused with the place of what is wrong', async () => {
    const list = someList()
    await writesNothing(service, async () => {
      assert.deepEqual(told(await post(file(list, [price('a'), price('a')]))), ['value_error prices.1'])
      assert.deepEqual(told(await post(file('team/project', []))), ['string_pattern_mismatch list'])
      const { effective_date: _, ...undated } = price('a')
      assert.deepEqual(told(await post(file(list, [{ ...undated, prompt_cost: 1 }]))), [
        'missing prices.0.effective_date',
        'extra_forbidden prices.0.prompt_cost',
      ])
      assert.deepEqual(told(await post({})), ['missing version', 'missing source', 'missing prices'])
      const many = Array.from({ length: 10_001 }, (__, n) => price(`m${n}`))
      assert.deepEqual(told(await post(file(list, many))), ['value_error prices'])
    })
  })

  it('come with the service: the default list is in the log, with its version and where it is from', async () => {
    const imported = (await eventsOf(service, 'price-default')).find(
      ({ type }) => type === 'PriceListImported',
    )
    assert.equal(imported?.metadata.actor, 'system')
    assert.match(textIn(imported.data, 'source'), /checked/)
    assert.match(textIn(imported.data, 'version'), /^\d{4}-\d\d/)
  })
})

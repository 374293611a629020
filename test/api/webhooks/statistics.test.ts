import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { answers, dependingOn } from '../../support/receivers/behaviours.js'
import { until } from '../../support/until.js'
import { accepted, textIn } from '../calls/given.js'
import { givenAutomation, startSending, type Sending } from './deliveries/given.js'

describe('the statistics of webhooks and automations', () => {
  let sending: Sending
  let given: Awaited<ReturnType<typeof givenAutomation>>
  before(async () => {
    sending = await startSending()
    const behaviour = dependingOn(({ body }) => answers(body.includes('"bad') ? 500 : 200))
    given = await givenAutomation(sending, behaviour, { retry_waits_s: [0.05], timeout_s: 30 })
    for (const alias of ['one', 'bad', 'two']) await given.aliasAdded(alias)
    await until(async () => (await given.listed('state=succeeded,dead')).length === 3)
  })
  after(() => sending.stop())

  const read = async (path: string) => accepted(await given.send('GET', path))
  const first = async (path: string) => ((await read(path))['data'] as JsonObject[])[0]!

  it('are in lists and single webhooks', async () => {
    const hook = await read(`${given.webhooks}/${given.webhook}`)
    assert.equal(hook['attempts_24h'], 4)
    assert.equal(hook['success_rate_24h'], 0.5)
    const { id, state } = hook['last_delivery'] as JsonObject
    const [newest] = await given.listed()
    assert.deepEqual([id, state], [newest!.id, newest!.state])
    // The endpoint's state may still follow the last attempt.
    await until(async () =>
      isDeepStrictEqual(await first(given.webhooks), await read(`${given.webhooks}/${given.webhook}`)),
    )
  })

  it('are in lists and single automations', async () => {
    const automation = await read(`/api/automations/${given.automation}`)
    assert.equal(automation['fired_24h'], 3)
    assert.equal(automation['failed_24h'], 1)
    assert.ok(Date.parse(textIn(automation, 'last_fired_at')) > Date.now() - 60_000)
    assert.deepEqual(await first(`/api/automations?team=${given.team}`), automation)
  })

  it('are zero or absent before the first delivery', async () => {
    const other = await givenAutomation(sending, answers(200))
    const hook = accepted(await other.send('GET', `${other.webhooks}/${other.webhook}`))
    assert.deepEqual([hook['last_delivery'], hook['attempts_24h'], hook['success_rate_24h']], [null, 0, null])
    const automation = accepted(await other.send('GET', `/api/automations/${other.automation}`))
    assert.deepEqual(
      [automation['last_fired_at'], automation['fired_24h'], automation['failed_24h']],
      [null, 0, 0],
    )
  })

  it('of a webhook are given by the hour', async () => {
    const path = `${given.webhooks}/${given.webhook}/health`
    const hours = (await read(path))['data'] as JsonObject[]
    const sum = (field: string) => hours.reduce((total, hour) => total + Number(hour[field]), 0)
    assert.deepEqual([sum('attempts'), sum('succeeded')], [4, 2])
    assert.match(textIn(hours[0]!, 'hour'), /T\d\d:00:00\.000000Z$/)
    assert.ok(Number(hours[0]!['p95_ms']) >= Number(hours[0]!['p50_ms']))
    const range = '?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z'
    assert.deepEqual((await read(path + range))['data'], [])
    for (const wrong of ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', '?from=2020-01-01T00:00:00Z'])
      assert.equal((await given.send('GET', path + wrong)).status, 422)
  })
})

import assert from 'node:assert/strict'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { answers, dependingOn } from '../../../support/receivers/behaviours.js'
import { until } from '../../../support/until.js'
import { accepted, textIn } from '../../calls/given.js'
import { givenAutomation, startSending, type Sending } from './given.js'

describe('the filters of the delivery log', () => {
  let sending: Sending
  let given: Awaited<ReturnType<typeof givenAutomation>>
  before(async () => {
    sending = await startSending()
    const behaviour = dependingOn(({ body }) => answers(body.includes('"bad') ? 500 : 200))
    given = await givenAutomation(sending, behaviour, { retry_waits_s: [], timeout_s: 30 })
    for (const alias of ['one', 'two', 'bad']) await given.aliasAdded(alias)
    await given.append(`run-${given.team}/project/run-7`, 'RunStarted', {
      project_id: `${given.team}/project`,
      run_id: 'run-7',
      name: 'run-7',
      user: 'ada',
      started_at: '2026-01-01T00:00:00.000000Z',
    })
    await until(async () => (await list('')).filter(({ finished_at }) => finished_at !== null).length === 3)
  })
  after(() => sending.stop())

  const list = async (query: string): Promise<readonly JsonObject[]> =>
    accepted(await given.send('GET', `/api/deliveries?team=${given.team}&${query}`))['data'] as JsonObject[]
  const statesOf = async (query: string) => (await list(query)).map(({ state }) => state).toSorted()
  const counts = async (query = '') =>
    accepted(await given.send('GET', `/api/deliveries/counts?team=${given.team}&${query}`))

  it('select several states', async () => {
    assert.deepEqual(await statesOf('state=dead'), ['dead'])
    assert.deepEqual(await statesOf('state=dead,succeeded'), ['dead', 'succeeded', 'succeeded'])
    assert.deepEqual(await statesOf('state=pending,held,retrying'), [])
  })

  it('select the reason, the type of event, its source, a run and a collection', async () => {
    assert.deepEqual(await statesOf('reason=exhausted'), ['dead'])
    assert.equal((await list('event_type=ADD_ARTIFACT_ALIAS')).length, 3)
    assert.equal((await list('event_type=RUN_STATE')).length, 0)
    const [newest] = await list('')
    const { event_id } = newest!['source'] as { event_id: string }
    assert.deepEqual(await list(`source_event=${event_id}`), [newest])
    assert.equal((await list('artifact=model')).length, 3)
    assert.equal((await list('artifact=odel')).length, 0)
    assert.equal((await list('run=run-7')).length, 0)
  })

  it('select text in ids, errors, reasons and names', async () => {
    const [newest] = await list('')
    assert.equal((await list(`q=${textIn(newest!, 'id').slice(4, 20).toUpperCase()}`)).length, 1)
    assert.equal((await list('q=EXHAUST')).length, 1)
    assert.equal((await list('q=on%20Prod')).length, 3)
    assert.equal((await list('q=hook')).length, 3)
    assert.equal((await list('q=100%25')).length, 0)
  })

  it('are refused by name', async () => {
    for (const [query, field] of [
      ['state=dead,gone', 'state'],
      ['state=', 'state'],
      ['event_type=X', 'event_type'],
      ['from=yesterday', 'from'],
    ] as const)
      for (const path of ['/api/deliveries', '/api/deliveries/counts']) {
        const refused = await given.send('GET', `${path}?team=${given.team}&${query}`)
        assert.equal(refused.status, 422)
        assert.deepEqual(refused.json<{ detail: JsonObject[] }>().detail[0]!['loc'], ['query', field])
      }
  })

  it('count by state, webhook and automation, with names', async () => {
    const { webhook, automation } = given
    const all = await counts()
    assert.equal(all['total'], 3)
    assert.deepEqual(all['by_state'], { dead: 1, succeeded: 2 })
    assert.deepEqual(all['by_webhook'], [{ id: webhook, name: 'hook', deliveries: 3 }])
    assert.deepEqual(all['by_automation'], [{ id: automation, name: 'on production', deliveries: 3 }])
    assert.equal((await counts('state=dead'))['total'], 1)
    assert.equal((await counts('from=2199-01-01T00:00:00Z'))['total'], 0)
  })

  it('show the names of webhooks and automations, also of deleted ones', async () => {
    const [newest] = await list('')
    assert.deepEqual([newest!['webhook_name'], newest!['automation_name']], ['hook', 'on production'])
    const other = await givenAutomation(sending, answers(200))
    await other.aliasAdded('one')
    await until(async () => (await other.listed('state=succeeded')).length === 1)
    accepted(await other.send('DELETE', `/api/automations/${other.automation}`))
    accepted(await other.send('DELETE', `${other.webhooks}/${other.webhook}?force=true`))
    const listed = accepted(await other.send('GET', `/api/deliveries?team=${other.team}`))[
      'data'
    ] as JsonObject[]
    assert.deepEqual([listed[0]!['webhook_name'], listed[0]!['automation_name']], ['hook', 'on production'])
  })

  it('show what waiting deliveries wait for', async () => {
    const waiting = await givenAutomation(sending, answers(503, { 'retry-after': '600' }), {
      retry_waits_s: [5],
      timeout_s: 30,
    })
    await waiting.aliasAdded('one')
    const shown = async () => {
      const listed = accepted(await waiting.send('GET', `/api/deliveries?team=${waiting.team}`))
      return (listed['data'] as JsonObject[])[0]
    }
    await until(async () => (await shown())?.['state'] === 'retrying')
    const wait = Date.parse((await shown())!['next_at'] as string) - Date.now()
    assert.ok(wait > 500_000 && wait < 610_000, String(wait))
    const { id, next_at } = (await shown())!
    assert.equal(accepted(await waiting.send('GET', `/api/deliveries/${id as string}`))['next_at'], next_at)
    accepted(await waiting.send('PATCH', `${waiting.webhooks}/${waiting.webhook}`, { enabled: false }))
    await until(async () => (await shown())?.['state'] === 'held')
    assert.deepEqual(
      [(await shown())!['waiting_reason'], (await shown())!['next_at']],
      ['webhook_disabled', null],
    )
    const held = accepted(await waiting.send('GET', `/api/deliveries/counts?team=${waiting.team}&state=held`))
    assert.deepEqual(held['by_state'], { held: 1 })
  })
})

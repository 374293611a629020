import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type * as t from 'io-ts'
import type { backtested } from '../../../../src/api/webhooks/deliveries/backtest.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { until } from '../../../support/until.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { anAutomation } from '../given.js'
import { accepted, textIn } from '../../calls/given.js'
import { givenAutomation, startSending, type Sending } from './given.js'

type Backtested = t.TypeOf<typeof backtested>

describe('what automations did', () => {
  let sending: Sending
  before(async () => {
    sending = await startSending()
  })
  after(() => sending.stop())

  const given = async () => {
    const team = await givenAutomation(sending, answers(200))
    const { eventStore } = sending.service.stores
    return {
      ...team,
      positionsOf: async (stream: string) => {
        const found: { id: string; position: string }[] = []
        for await (const { id, position } of eventStore.readStream(stream))
          found.push({ id, position: String(position) })
        return found
      },
      why: async (query: string, automation = team.automation) =>
        accepted(await team.send('GET', `/api/automations/${automation}/why?event=${query}`)),
      backtest: async (body: object) =>
        accepted(
          await team.send('POST', `/api/automations/${team.automation}/backtest`, body),
        ) as unknown as Backtested,
    }
  }

  it('is told for an event: the delivery, or the first condition that was not met', async () => {
    const { why, aliasAdded, listed, positionsOf, send, team, other, automation, append } = await given()
    await aliasAdded('prod')
    await until(async () => (await listed('state=succeeded')).length === 1)
    const path = `/api/automations/${automation}`
    accepted(await send('PATCH', path, { event: { alias_pattern: '^never' } }))
    await aliasAdded('prod')
    accepted(await send('PATCH', path, { enabled: false }))
    await aliasAdded('never')
    await append(`artifact-${team}/other/model`, 'TagAdded', {
      team,
      project_id: `${team}/other`,
      registry: null,
      collection: 'model',
      version: 0,
      tag: 't',
    })
    const [first, second, third] = await positionsOf(`artifact-${team}/project/model`)
    const [delivery] = await listed()
    const fired = await why(first!.position)
    assert.deepEqual([fired['matched'], fired['delivery'], fired['reason']], [true, delivery!.id, null])
    assert.deepEqual(await why(`${first!.id}&stream=artifact-${team}/project/model`), fired)
    assert.deepEqual(await why(first!.id), fired)
    assert.deepEqual(await why(first!.id.toUpperCase()), fired)
    assert.equal((await why(second!.position))['reason'], 'alias_pattern')
    assert.equal((await why(third!.position))['says'], 'The automation was disabled at that time.')
    const made = accepted(await send('POST', '/api/automations', anAutomation(team, { name: 'late' })))
    assert.equal((await why(first!.position, textIn(made, 'id')))['reason'], 'not_there')
    const [tag] = await positionsOf(`artifact-${team}/other/model`)
    assert.equal((await why(tag!.position, textIn(made, 'id')))['reason'], 'not_there')
    await append(`artifact-${other}/project/model`, 'AliasAdded', {
      team: other,
      project_id: `${other}/project`,
      registry: null,
      collection: 'model',
      version: 0,
      alias: 'prod',
    })
    const [ofOthers] = await positionsOf(`artifact-${other}/project/model`)
    const unseen = await send('GET', `${path}/why?event=${ofOthers!.position}`)
    const nothing = await send('GET', `${path}/why?event=999999998`)
    const unseenById = await send('GET', `${path}/why?event=${ofOthers!.id}`)
    const nothingById = await send('GET', `${path}/why?event=${randomUUID()}`)
    for (const answer of [unseen, unseenById, nothingById])
      assert.deepEqual([answer.status, answer.text], [404, nothing.text])
    for (const wrong of ['', '?event=x', '?event=-1', '?other=1'])
      assert.equal((await send('GET', `${path}/why${wrong}`)).status, 422, wrong)
    assert.equal((await send('GET', `${path}/why?event=999999999`)).status, 404)
    assert.equal((await send('GET', `${path}/why?event=0`)).status, 404)
  })

  it('asks for the stream where the log finds no event by its id alone, whether there is one or not', async () => {
    const { positionsOf, send, automation, aliasAdded, team, why } = await given()
    await aliasAdded('prod')
    const stream = `artifact-${team}/project/model`
    const [event] = await positionsOf(stream)
    const { eventStore } = sending.service.stores
    const { findEvent } = eventStore
    Object.assign(eventStore, { findEvent: undefined })
    for (const id of [event!.id, randomUUID()]) {
      const answer = await send('GET', `/api/automations/${automation}/why?event=${id}`)
      assert.equal(answer.status, 422)
      const [problem] = answer.json<{ detail: { loc: string[]; msg: string }[] }>().detail
      assert.deepEqual(problem!.loc, ['query', 'stream'])
      assert.match(problem!.msg, /a position needs no stream/)
    }
    assert.equal((await why(`${event!.id}&stream=${stream}`))['matched'], true)
    Object.assign(eventStore, { findEvent })
  })

  it('reads no stream of others for somebody who asks in its name', async () => {
    const { positionsOf, send, other, automation, append } = await given()
    const stream = `artifact-${other}/project/model`
    await append(stream, 'AliasAdded', {
      team: other,
      project_id: `${other}/project`,
      registry: null,
      collection: 'model',
      version: 0,
      alias: 'prod',
    })
    const [ofOthers] = await positionsOf(stream)
    const { eventStore } = sending.service.stores
    const readStream = eventStore.readStream.bind(eventStore)
    const read: string[] = []
    const spied: typeof readStream = (of, range) => {
      read.push(of)
      return readStream(of, range)
    }
    Object.assign(eventStore, { readStream: spied })
    for (const named of [stream, `secret-${other}/name`, 'nothing-there']) {
      const answer = await send(
        'GET',
        `/api/automations/${automation}/why?event=${ofOthers!.id}&stream=${named}`,
      )
      assert.equal(answer.status, 404)
      assert.ok(!read.includes(named))
    }
    Object.assign(eventStore, { readStream })
  })

  it('tells windows, thresholds and cooldowns of runs in figures', async () => {
    const { why, positionsOf, postAutomation, append, team } = await given()
    const event = { type: 'RUN_METRIC', metric: 'loss', window: 2, aggregation: 'MAX' }
    const asked = { name: 'on loss', event: { ...event, comparison: '$gt', threshold: 1 }, payload: '{}' }
    const id = textIn(accepted(await postAutomation(anAutomation(team, asked))), 'id')
    const stream = `run-${team}/project/r`
    const run = { project_id: `${team}/project`, run_id: 'r', name: 'run', user: 'ada' }
    for (const loss of [0, 0.5, 2, 3]) await append(stream, 'MetricsLogged', { ...run, metrics: { loss } })
    const [notFull, below, fired, silent] = await positionsOf(stream)
    const told = await why(notFull!.position, id)
    assert.deepEqual([told['reason'], told['values_there'], told['values_needed']], ['window_not_full', 1, 2])
    const under = await why(below!.position, id)
    assert.deepEqual([under['reason'], under['value'], under['threshold']], ['threshold', 0.5, 1])
    assert.equal((await why(fired!.position, id))['matched'], true)
    const cooling = await why(silent!.position, id)
    assert.equal(cooling['reason'], 'cooldown')
    assert.ok(Date.parse(cooling['until'] as string) > Date.now() + 23 * 3600 * 1000)
  })

  it('is what a backtest gives of it: the same ids and bodies, without secrets, and nothing is sent', async () => {
    const { aliasAdded, listed, detailOf, backtest, received } = await given()
    for (const alias of ['a', 'b', 'c']) await aliasAdded(alias)
    await until(async () => (await listed('state=succeeded')).length === 3)
    const sent = (await listed()).toReversed()
    for (const versions of ['current', 'historic']) {
      const told: Backtested['data'][number][] = []
      let from: string | null = null
      do {
        const page = await backtest({ from, limit: 2, versions })
        told.push(...page.data)
        from = page.next
      } while (from !== null)
      assert.deepEqual(
        told.map(({ delivery }) => delivery),
        sent.map(({ id }) => id),
      )
      for (const { delivery, body } of told) assert.equal(body, (await detailOf(delivery)).body)
      assert.match(told[0]!.body!, /\[secret:ACCESS_TOKEN\]/)
    }
    assert.equal(received.length, 3)
    const { data } = await backtest({ from: '2100-01-01T00:00:00Z' })
    assert.deepEqual(data, [])
    const now = new Date(Date.now() - 3600_000).toISOString()
    assert.deepEqual((await backtest({ to: now })).data, [])
    assert.equal((await backtest({ from: now, to: '2100-01-01T00:00:00Z' })).data.length, 3)
  })

  it('would have been something else with another pattern and payload, which are checked as in a change', async () => {
    const { aliasAdded, listed, backtest, send, automation } = await given()
    for (const alias of ['a', 'b']) await aliasAdded(alias)
    await until(async () => (await listed('state=succeeded')).length === 2)
    const candidate = { event: { alias_pattern: '^b' }, payload: '{"only": "${alias}"}' }
    const { data } = await backtest({ candidate })
    assert.deepEqual(
      data.map(({ body }) => body),
      ['{"only": "b"}'],
    )
    const path = `/api/automations/${automation}/backtest`
    for (const [wrong, loc] of [
      [{ candidate: { payload: '{"a": ${nothing}}' } }, ['body', 'candidate', 'payload']],
      [{ candidate: { event: { alias_pattern: '(' } } }, ['body', 'candidate', 'event', 'alias_pattern']],
      [{ candidate: { colour: 'red' } }, ['body', 'candidate', 'colour']],
      [{ from: 'yesterday' }, ['body', 'from']],
      [{ limit: 0 }, ['body', 'limit']],
      [{ versions: 'future' }, ['body', 'versions']],
    ] as const) {
      const answer = await send('POST', path, wrong)
      assert.equal(answer.status, 422, JSON.stringify(wrong))
      assert.deepEqual(answer.json<{ detail: { loc: string[] }[] }>().detail[0]!.loc, loc)
    }
    const before = await send('GET', `/api/automations/${automation}`)
    assert.equal((before.json()['event'] as JsonObject)['alias_pattern'], '.')
  })
})

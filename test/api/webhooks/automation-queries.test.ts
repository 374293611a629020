import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { answers } from '../../support/receivers/behaviours.js'
import { until } from '../../support/until.js'
import { accepted, textIn } from '../calls/given.js'
import { givenAutomation, startSending, type Sending } from './deliveries/given.js'
import { anAutomation } from './given.js'

const compare = (operator: string, field: string, value: unknown) => ({
  $expr: { [operator]: [{ $getField: field }, { $literal: value }] },
})

describe('a query of an automation', () => {
  let sending: Sending
  before(async () => void (sending = await startSending()))
  after(() => sending.stop())

  const given = () => givenAutomation(sending, answers(200))

  it('decides which events are sent, and why the others are not', async () => {
    const { send, automation, team, aliasAdded, received, listed } = await given()
    const query = compare('$eq', 'alias', 'two')
    const changed = accepted(await send('PATCH', `/api/automations/${automation}`, { query }))
    assert.deepEqual(changed['query'], query)
    for (const alias of ['one', 'two', 'three']) await aliasAdded(alias)
    await until(async () => (await listed('state=succeeded')).length === 1)
    assert.match(received[0]!.body.toString(), /"two"/)
    const events: string[] = []
    for await (const { id, data } of sending.service.stores.eventStore.readStream(
      `artifact-${team}/project/model`,
    ))
      if (data['alias'] === 'three') events.push(id)
    const why = accepted(await send('GET', `/api/automations/${automation}/why?event=${events[0]}`))
    assert.deepEqual([why['reason'], why['says']], ['query', 'The event does not meet the query.'])
    const backtest = accepted(await send('POST', `/api/automations/${automation}/backtest`, {}))
    assert.equal((backtest['data'] as JsonObject[]).length, 1)
    accepted(await send('PATCH', `/api/automations/${automation}`, { query: null }))
    await aliasAdded('four')
    await until(async () => (await listed('state=succeeded')).length === 2)
  })

  it('compares the metadata of artifacts', async () => {
    const { send, automation, append, team, listed } = await given()
    const created = (version: number, accuracy: number) =>
      append(`artifact-${team}/project/model`, 'VersionCreated', {
        team,
        project_id: `${team}/project`,
        registry: null,
        collection: 'model',
        version,
        artifact_id: `a-${version}`,
        digest: `d-${version}`,
        metadata: { eval: { accuracy } },
        created_at: '2026-01-01T00:00:00.000000Z',
      })
    const query = compare('$gt', 'artifact_metadata.eval.accuracy', 0.9)
    accepted(
      await send('PATCH', `/api/automations/${automation}`, {
        event: { type: 'CREATE_ARTIFACT' },
        query,
        payload: '{}',
      }),
    )
    await created(0, 0.5)
    await created(1, 0.95)
    await until(async () => (await listed('state=succeeded')).length === 1)
    const aliased = compare('$gt', 'artifact_metadata.eval.accuracy', 0.6)
    const event = { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '.' }
    accepted(await send('PATCH', `/api/automations/${automation}`, { event, query: aliased }))
    for (const version of [0, 1])
      await append(`artifact-${team}/project/model`, 'AliasAdded', {
        team,
        project_id: `${team}/project`,
        registry: null,
        collection: 'model',
        version,
        alias: `v-${version}`,
      })
    await until(async () => (await listed('event_type=ADD_ARTIFACT_ALIAS&state=succeeded')).length === 1)
  })

  it('is refused by the place of its fault', async () => {
    const { send, team } = await given()
    for (const [query, loc, says] of [
      [
        compare('$eq', 'aliass', 'x'),
        ['query'],
        /Field aliass is not a variable of ADD_ARTIFACT_ALIAS\. Did you mean alias\?/,
      ],
      [compare('$eq', 'run_name', 'x'), ['query'], /run_name is not a variable/],
      [compare('$like', 'alias', 'x'), ['query', '$expr'], /expected an object with one of/],
      [{}, ['query', '$expr'], /Field required/],
      ['alias = 1', ['query'], /dictionary/],
      [{ $expr: { $eq: [{ $getField: 'alias' }] } }, ['query', '$expr', '$eq'], /./],
    ] as const) {
      const refused = await send('POST', '/api/automations', anAutomation(team, { name: 'q', query }))
      assert.equal(refused.status, 422, JSON.stringify(query))
      const [detail] = refused.json<{ detail: { loc: string[]; msg: string }[] }>().detail
      assert.deepEqual(detail!.loc.slice(0, loc.length + 1), ['body', ...loc])
      assert.match(detail!.msg, says)
    }
    const created = accepted(
      await send(
        'POST',
        '/api/automations',
        anAutomation(team, { name: 'good', query: compare('$eq', 'alias', 'x') }),
      ),
    )
    assert.equal(
      accepted(await send('GET', `/api/automations/${textIn(created, 'id')}`))['query'] !== null,
      true,
    )
  })
})

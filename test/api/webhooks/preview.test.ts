import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { aStart, anEnd } from '../../support/call-requests.js'
import type { TestService } from '../../support/service.js'
import { accepted, eventsOf, writesNothing } from '../calls/given.js'
import { sharedService } from '../shared-service.js'
import { anAutomation, aWebhook, givenTeam } from './given.js'

type Given = Awaited<ReturnType<typeof givenTeam>>

describe('the preview of an automation', () => {
  let service: TestService
  let given: Given
  before(async () => {
    service = await sharedService()
    given = await givenTeam(service)
    accepted(await given.postWebhook(aWebhook({ access_token: 'TOKEN' })))
  })

  const preview = async (more: object = {}, rest: object = {}): Promise<JsonObject> =>
    accepted(
      await given.send('POST', '/api/automations/preview', {
        automation: anAutomation(given.team, more),
        ...rest,
      }),
    )
  const addAlias = (alias: string, project = 'project', collection = 'model') => {
    const place = { team: given.team, collection, project_id: `${given.team}/${project}`, registry: null }
    return given.append(`artifact-${given.team}/${project}/${collection}`, 'AliasAdded', {
      ...place,
      version: 0,
      alias,
    })
  }
  const startRun = (run_id: string, user: string) =>
    given.append(`run-${given.team}/project/${run_id}`, 'RunStarted', {
      project_id: `${given.team}/project`,
      run_id,
      name: run_id,
      user,
      started_at: '2026-01-01T00:00:00.000000Z',
    })

  it('shows the newest matching event, its message and the matches of a week', async () => {
    await addAlias('prod-1')
    await addAlias('prod-2')
    await addAlias('staging')
    await addAlias('prod-elsewhere', 'other')
    const shown = await preview({
      payload: '{"alias":"${alias}","by":"${event_author}","run":"${run_name}","t":"$TOKEN"}',
    })
    assert.deepEqual(shown['errors'], [])
    assert.equal(
      shown['sentence'],
      `When an alias that matches ^prod is added to an artifact version in the project ${given.team}/project, ` +
        'the message is sent to the webhook "hook".',
    )
    assert.equal((shown['event'] as JsonObject)['type'], 'AliasAdded')
    const rendered = JSON.parse(shown['rendered'] as string) as JsonObject
    assert.deepEqual([rendered['alias'], rendered['by']], ['prod-2', 'test'])
    assert.ok(!(shown['rendered'] as string).includes('$TOKEN'))
    assert.deepEqual(shown['unresolved'], ['run_name'])
    assert.deepEqual([shown['matched'], shown['matches_7d'], shown['complete']], [true, 2, true])
    assert.ok(Date.parse(shown['searched_from'] as string) <= Date.now())
  })

  it('shows another event when it is asked for, and why it would not match', async () => {
    await addAlias('staging')
    const head = await service.stores.eventStore.head()
    const shown = await preview({}, { event: String(head) })
    assert.equal(shown['matched'], false)
    assert.equal(shown['says'], 'The alias does not match alias_pattern.')
    assert.equal(shown['rendered'], '{"alias":"staging"}')
  })

  it('links to the call, but not if the service knows no public address', async () => {
    const project_id = `${given.team}/project`
    await given.append(`call-${project_id}/c`, 'CallEnded', {
      project_id,
      id: 'c',
      ended_at: '2026-01-01T00:00:00.000000Z',
      exception: 'Error: out of memory',
      summary: {},
      usage: null,
    })
    const shown = await preview({ event: { type: 'CALL_FAILED' }, payload: '{"link":"${call_url}"}' })
    assert.deepEqual([shown['rendered'], shown['unresolved']], ['{"link":""}', ['call_url']])
  })

  it('finds events of runs, with their filters', async () => {
    await startRun('r-1', 'ada')
    await startRun('r-2', 'bob')
    const shown = await preview({
      event: { type: 'RUN_STATE', states: ['RUNNING'] },
      run_filters: { user: 'ada' },
      payload: '{"run":"${run_name}"}',
    })
    assert.equal(shown['rendered'], '{"run":"r-1"}')
    assert.equal(shown['matches_7d'], 1)
  })

  it('names each error with its place, and shows the rest', async () => {
    const shown = await preview({
      webhook: 'nowhere',
      event: { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: 'a(' },
    })
    assert.deepEqual(
      (shown['errors'] as JsonObject[]).map(({ loc }) => loc),
      [['webhook'], ['event', 'alias_pattern']],
    )
    assert.equal(shown['sentence'], null)
    assert.equal(typeof (shown['errors'] as JsonObject[])[1]!['start'], 'number')
    const typo = await preview({ payload: '{"alias":"${alais}"}' })
    const [error] = typo['errors'] as JsonObject[]
    assert.deepEqual([error!['loc'], error!['start'], error!['suggestion']], [['payload'], 10, '${alias}'])
    assert.equal(typo['rendered'], null)
    assert.equal(typo['matched'], true)
  })

  it('counts failed calls that are older than the events of the log that it searched', async () => {
    const project_id = `${given.team}/failing`
    const call = (id: string, exception: string | null) => [
      { mode: 'start', req: { start: aStart(project_id, { id, trace_id: id }) } },
      { mode: 'end', req: { end: anEnd(project_id, id, { exception }) } },
    ]
    const record = async (count: number, exception: string | null) => {
      const batch = Array.from({ length: count }, () => call(randomUUID(), exception)).flat()
      accepted(await given.send('POST', '/call/upsert_batch', { batch }))
    }
    await record(3, 'Error: out of memory')
    await record(300, null)
    const failing = {
      event: { type: 'CALL_FAILED' },
      scope: { type: 'project', project: 'failing' },
      payload: '{"call":"${call_id}"}',
    }
    const shown = await preview(failing, { search_ms: 0 })
    assert.deepEqual([shown['matches_7d'], shown['complete']], [3, true])
    assert.match(shown['rendered'] as string, /^\{"call":"[\da-f-]{36}"\}$/)
    const other = await preview({ ...failing, scope: { type: 'project', project: 'none' } }, { search_ms: 0 })
    assert.deepEqual([other['matches_7d'], other['complete']], [0, true])
  })

  it('needs neither a name nor a webhook', async () => {
    const { name: _, webhook: __, ...automation } = anAutomation(given.team)
    const shown = accepted(await given.send('POST', '/api/automations/preview', { automation }))
    assert.deepEqual(
      (shown['errors'] as JsonObject[]).map(({ loc, type }) => [loc, type]),
      [[['webhook'], 'missing']],
    )
    assert.match(shown['sentence'] as string, /is sent to a webhook\.$/)
  })

  it('shows nothing of an event type that did not occur', async () => {
    const shown = await preview({ event: { type: 'CREATE_ARTIFACT' } })
    assert.deepEqual(
      [shown['event'], shown['rendered'], shown['matches_7d'], shown['complete']],
      [null, null, 0, true],
    )
  })

  it('writes nothing, and is for those who may create the automation', async () => {
    await writesNothing(service, () => preview())
    const body = { automation: anAutomation(given.team) }
    const as = async (key: string) =>
      (await given.send('POST', '/api/automations/preview', body, { key })).status
    assert.equal(await as(given.keys.project_administrator), 200)
    assert.equal(await as(given.keys.member), 403)
    assert.equal(await as(given.stranger), 404)
  })

  it('shows no event of another team', async () => {
    const other = await givenTeam(service)
    await other.append(`artifact-${other.team}/project/model`, 'AliasAdded', {
      team: other.team,
      collection: 'model',
      project_id: `${other.team}/project`,
      registry: null,
      version: 0,
      alias: 'prod',
    })
    const position = String(await service.stores.eventStore.head())
    const body = { automation: anAutomation(given.team), event: position }
    assert.equal((await given.send('POST', '/api/automations/preview', body)).status, 404)
    assert.ok((await eventsOf(service, `artifact-${other.team}/project/model`)).length > 0)
  })
})

import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { startTestService, type TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { accepted, reasonOf, told } from '../calls/given.js'

const PROJECT = 'default/retention'
const SETTINGS = `/api/projects/${PROJECT}`

describe('the retention of a project', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
    const now = new Date().toISOString()
    await service
      .in(PROJECT)
      .calls.complete([
        { id: 'old', inputs: { a: 1 }, output: 'old' },
        { id: 'new', inputs: { a: 1 }, output: 'new', started_at: now, ended_at: now },
      ])
      .json()
  })
  after(() => service.stop())

  const outputOf = async (id: string) => ((await service.in(PROJECT).calls.read(id)) as JsonObject)['output']
  const latest = async (): Promise<JsonObject | undefined> => {
    const { data } = accepted(await service.send('GET', `${SETTINGS}/erasures`))
    return (data as readonly JsonObject[])[0]
  }

  it('erases the content of older calls, once', async () => {
    accepted(await service.send('PUT', SETTINGS, { retention: { content_days: 30 } }))
    await until(async () => (await latest())?.['state'] === 'finished')

    const { requested_by, calls, reason } = (await latest())!
    assert.deepEqual(
      { requested_by, calls, reason },
      { ...{ requested_by: 'policy', calls: 1, reason: 'content is kept for 30 days' } },
    )
    assert.equal(await outputOf('old'), null)
    assert.equal(await outputOf('new'), 'new')

    accepted(await service.send('PUT', SETTINGS, { retention: { content_days: 20 } }))
    const head = await service.stores.eventStore.head()
    await service
      .in(PROJECT)
      .calls.complete([{ id: 'older', output: 'older' }])
      .json()
    accepted(await service.send('PUT', SETTINGS, { retention: { content_days: 19 } }))
    await until(async () => (await outputOf('older')) === null)
    const requested: unknown[] = []
    for await (const { type } of service.stores.eventStore.readAll({ after: head }))
      if (type === 'ErasureRequested') requested.push(type)
    assert.equal(requested.length, 1)
  })

  it('keeps figures for at least as long as content', async () => {
    const refused = await service.send('PUT', SETTINGS, { retention: { content_days: 30, figures_days: 29 } })
    assert.deepEqual(told(refused), ['value_error retention.figures_days'])
    accepted(await service.send('PUT', SETTINGS, { retention: { content_days: 30, figures_days: 30 } }))
    await until(async () => (await service.in(PROJECT).calls.ids({})).join() === 'new')
    const { reason, figures } = (await latest())!
    assert.deepEqual({ reason, figures }, { reason: 'calls are kept for 30 days', figures: true })
    const longer = await service.send('PUT', SETTINGS, { retention: { content_days: 31 } })
    assert.deepEqual(told(longer), ['value_error retention.figures_days'])
  })

  it('is set by administrators of the team only', async () => {
    const key = await service.teams.keyOf('default', 'a-member', 'project_administrator')
    const body = { retention: { content_days: 1 } }
    assert.match(reasonOf(await service.send('PUT', SETTINGS, body, { key }), 403), /team_administrator/)
  })
})

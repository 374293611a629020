import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answered } from '../../support/client.js'
import { startTestService, type TestService } from '../../support/service.js'
import { aCompleted } from '../../support/call-requests.js'
import { accepted, reasonOf, textIn } from '../calls/given.js'

const PROJECT = 'default/rebuilt'
const CALLS = 400

interface SeenRebuild {
  readonly id: string
  readonly state: string
  readonly events: number
  readonly requested_at: string
  readonly finished_at: string | null
}

const usage = { small: { requests: 1, prompt_tokens: 3, completion_tokens: 1 } }

describe('a rebuild of the read models', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
    const batch = Array.from({ length: CALLS }, (_, i) => aCompleted(PROJECT, called(i)))
    accepted(await service.post('/v2/default/rebuilt/calls/complete', { batch }))
  })
  after(() => service.stop())

  const called = (i: number) => ({ id: `c-${i}`, trace_id: 'trace', summary: { usage } })

  const requested = async (): Promise<SeenRebuild> => {
    const answer = await service.post('/api/admin/rebuilds', undefined)
    return accepted(answer) as unknown as SeenRebuild
  }

  const ended = async ({ id }: SeenRebuild, meanwhile = () => sleep(50)): Promise<SeenRebuild> => {
    for (;;) {
      const seen = accepted(await service.send('GET', `/api/admin/rebuilds/${id}`)) as unknown as SeenRebuild
      if (!['requested', 'running', 'swapping'].includes(seen.state)) return seen
      await meanwhile()
    }
  }

  const totals = async (): Promise<Answered> =>
    service.in(PROJECT).usage.ofTraces({ filter: { trace_ids: ['trace'] }, limit: 100_000 })

  it('changes no answer where the tables are right, and is the only one while it runs', async () => {
    const before = accepted(await totals())
    const rebuild = await requested()
    const second = await service.post('/api/admin/rebuilds', undefined)
    if (second.status !== 200) {
      assert.match(reasonOf(second, 409), new RegExp(`GET /api/admin/rebuilds/${rebuild.id}`))
      assert.equal(textIn(second.json(), 'id'), rebuild.id)
    }

    const { state, finished_at } = await ended(rebuild)

    assert.equal(state, 'finished')
    assert.ok(finished_at !== null)
    assert.deepEqual(accepted(await totals()), before)
  })

  it('mends tables that lost rows, and asks nothing of caches', async () => {
    const { writer } = service.stores.clickHouse
    const before = accepted(await totals())
    await writer.command(
      "ALTER TABLE usage_facts DELETE WHERE call_id IN ('c-1', 'c-2') SETTINGS mutations_sync = 2",
    )
    await writer.command("ALTER TABLE calls DELETE WHERE id = 'c-3' SETTINGS mutations_sync = 2")
    assert.notDeepEqual(accepted(await totals()), before)

    assert.equal((await ended(await requested())).state, 'finished')
    assert.deepEqual(accepted(await totals()), before)
    assert.equal((await service.in(PROJECT).calls.ids()).length, CALLS)
  })

  it('lets writes and reads go on: every read answers, with what was written before it', async () => {
    const rebuild = await requested()
    let written = CALLS

    const { state } = await ended(rebuild, async () => {
      accepted(await service.post('/call/start', { start: { ...aCompleted(PROJECT, called(written)) } }))
      written += 1
      const answer = accepted(await totals())
      assert.equal(Object.keys(answer['call_usage'] as object).length, written)
    })

    assert.equal(state, 'finished')
    assert.ok(written > CALLS)
    assert.equal((await service.in(PROJECT).calls.ids()).length, written)
  })

  it('leaves nothing behind but its row', async () => {
    const { writer, database } = service.stores.clickHouse
    const databases = await writer.query<{ name: string }>(
      `SELECT name FROM system.databases WHERE startsWith(name, '${database}_')`,
    )
    assert.deepEqual(databases, [])
  })

  it('is one at a time, however many are asked for at once', async () => {
    const headers = { 'tallytree-stale': 'allow' }
    const ask = () => service.send('POST', '/api/admin/rebuilds', undefined, { headers })
    const answers = await Promise.all(Array.from({ length: 5 }, ask))
    const made = answers.filter(({ status }) => status === 200)
    assert.ok(made.length > 0)
    for (const { status } of answers) assert.ok(status === 200 || status === 409)
    const rebuilds: SeenRebuild[] = []
    for (const answer of made) rebuilds.push(await ended(accepted(answer) as unknown as SeenRebuild))
    rebuilds.sort((a, b) => (a.requested_at < b.requested_at ? -1 : 1))
    for (const [i, { finished_at }] of rebuilds.slice(0, -1).entries())
      assert.ok(finished_at! <= rebuilds[i + 1]!.requested_at)
  })

  it('is in the list, the newest first', async () => {
    const { data } = accepted(await service.send('GET', '/api/admin/rebuilds')) as unknown as {
      data: SeenRebuild[]
    }
    assert.ok(data.length >= 4)
    assert.ok(data.every(({ state }) => state === 'finished'))
    const ids = data.map(({ id }) => id)
    assert.deepEqual(ids, [...ids].sort().reverse())
  })

  it('is for the administrator alone', async () => {
    await service.teams.create('others').json()
    const member = await service.post('/api/teams/others/members', {
      user: 'other',
      role: 'team_administrator',
    })
    const key = textIn(accepted(member), 'api_key')
    for (const [method, path] of [
      ['POST', '/api/admin/rebuilds'],
      ['GET', '/api/admin/rebuilds'],
      ['GET', '/api/admin/rebuilds/any'],
    ] as const)
      assert.match(reasonOf(await service.send(method, path, undefined, { key }), 403), /administrator key/)
  })

  it('that nobody asked for is a 404', async () => {
    reasonOf(await service.send('GET', '/api/admin/rebuilds/unknown'), 404)
  })
})

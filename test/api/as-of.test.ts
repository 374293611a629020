import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answered } from '../support/client.js'
import type { TestService } from '../support/service.js'
import { sharedService, someProject } from './shared-service.js'
import { aStart } from '../support/call-requests.js'
import { accepted, reasonOf } from './calls/given.js'

const asOf = (point: bigint | string) => ({ headers: { 'Tallytree-As-Of': String(point) } })

const positionOf = ({ headers }: Answered): bigint => BigInt(headers.get('tallytree-position') ?? -1)

const READS: Readonly<Record<string, object>> = {
  '/call/read': { id: 'c' },
  '/calls/query': {},
  '/calls/stream_query': {},
  '/calls/query_stats': {},
  '/trace/usage': {},
  '/calls/usage': { call_ids: ['c'] },
  '/calls/stats': { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' },
  '/objs/query': {},
  '/feedback/query': {},
  '/table/query_stats_batch': { digests: [] },
}

describe('a read as of an earlier point', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const started = async (project: string, id: string) =>
    positionOf(await service.in(project).calls.start({ id }))

  const call = async (project_id: string, point: bigint | string, id = 'c') =>
    (await service.in(project_id).with(asOf(point)).calls.read(id)) as Record<string, unknown> | null

  it('sees a call as it was: before it began, while it ran, as it was named, and not once it is deleted', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    const before = await service.stores.eventStore.head()
    const begun = await started(project, 'c')
    const ended = positionOf(await calls.end('c', { output: 7 }))
    const update = { project_id: project, call_id: 'c', display_name: 'named' }
    const named = positionOf(await service.post('/call/update', update))
    const deleted = positionOf(await calls.delete('c'))

    assert.equal(await call(project, before), null)
    assert.deepEqual(pick(await call(project, begun)), { ended_at: null, output: null, display_name: null })
    assert.deepEqual(pick(await call(project, ended)), { ended_at: true, output: 7, display_name: null })
    assert.deepEqual(pick(await call(project, named)), { ended_at: true, output: 7, display_name: 'named' })
    assert.equal(await call(project, deleted), null)
  })

  const pick = (one: Record<string, unknown> | null) => ({
    ended_at: one?.['ended_at'] === null ? null : true,
    output: one?.['output'],
    display_name: one?.['display_name'],
  })

  it('says which position it used: the one asked for, or that of the last event recorded no later', async () => {
    const project = someProject()
    const first = await started(project, 'c')
    await sleep(5)
    const between = new Date().toISOString()
    await sleep(5)
    const second = await started(project, 'd')
    for (const [path, more] of Object.entries(READS))
      for (const [point, used] of [
        [String(first), first],
        [`000${second}`, second],
        [between, first],
        [between.replace('Z', '123456+00:00'), first],
        ['1999-12-31T23:59:59-08:00', 0n],
        ['0', 0n],
      ] as const) {
        const answer = await service.post(path, { project_id: project, ...more }, asOf(point))
        assert.equal(answer.status, 200, answer.text)
        assert.equal(positionOf(answer), used, `${path} ${point}`)
      }
  })

  it('beyond the head is refused, and so is a time to come', async () => {
    const project_id = someProject()
    const head = await service.stores.eventStore.head()
    for (const [path, more] of Object.entries(READS))
      for (const point of [String(head + 1000n), '9'.repeat(40), '2290-01-01T00:00:00Z'])
        assert.match(
          reasonOf(await service.post(path, { project_id, ...more }, asOf(point)), 400),
          /Tallytree-As-Of is (beyond the end of the log|in the future)/,
        )
  })

  it('is asked for in digits or as a time of RFC 3339, and in no other way', async () => {
    const project_id = someProject()
    const odd = ['', '-1', '1.5', '0x10', 'now', '1 2', '1,2', '2026-01-01', '2026-01-01T00:00:00']
    const odder = [
      '2026-02-30T00:00:00Z',
      '2026-01-01T00:00:00+99:00',
      '1800-01-01T00:00:00Z',
      '1'.repeat(101),
    ]
    for (const [path, more] of Object.entries(READS))
      for (const point of [...odd, ...odder]) {
        const answer = await service.post(path, { project_id, ...more }, asOf(point))
        assert.equal(answer.status, 422, `${path} ${point}`)
        assert.match(answer.text, /"loc":\["header","Tallytree-As-Of"\]/)
      }
  })

  it('sees a run as it was', async () => {
    const project = someProject()
    const before = await service.stores.eventStore.head()
    const path = `/api/runs/${project}`
    const position = positionOf(await service.post(path, { name: 'a run', id: 'r' }))
    const logged = positionOf(await service.post(`${path}/r/metrics`, { metrics: { loss: 1 }, step: 1 }))
    accepted(await service.post(`${path}/r/metrics`, { metrics: { loss: 2 }, step: 2 }))
    accepted(await service.post(`${path}/r/finish`, { state: 'finished' }))

    const run = (point: bigint) => service.send('GET', `${path}/r`, undefined, asOf(point))
    assert.equal((await run(before)).status, 404)
    for (const [point, last_logged] of [
      [position, null],
      [logged, { metrics: { loss: 1 }, step: 1 }],
    ] as const) {
      const answer = await run(point)
      assert.equal(positionOf(answer), point)
      const { state, ended_at, last_logged: last } = accepted(answer)
      assert.deepEqual({ state, ended_at, last }, { state: 'running', ended_at: null, last: last_logged })
    }
    assert.equal(accepted(await service.send('GET', `${path}/r`))['state'], 'finished')
  })

  it('lists runs, and reads their history and console, as they were', async () => {
    const project = someProject()
    const path = `/api/runs/${project}`
    const before = await service.stores.eventStore.head()
    const stream = (offset: number, more: object = {}) =>
      service.post(`/files/${project}/r/file_stream`, {
        files: {
          'wandb-history.jsonl': { offset, content: [`{"_step":${offset},"loss":${offset}}`] },
          'wandb-events.jsonl': { offset, content: [`{"cpu":${offset}}`] },
          'output.log': { offset, content: [`line ${offset}`] },
          'wandb-summary.json': { offset: 0, content: [`{"loss":${offset}}`] },
        },
        ...more,
      })
    accepted(await service.post(path, { name: 'a run', id: 'r' }))
    accepted(await stream(0))
    const first = await service.stores.eventStore.head()
    accepted(await service.post(path, { name: 'another', id: 's' }))
    accepted(await stream(1, { complete: true, exitcode: 0 }))
    accepted(await service.post(`${path}/s/finish`, { state: 'failed' }))
    const last = await service.stores.eventStore.head()

    const read = async (point: bigint, of = '') => {
      const answer = await service.send('GET', `${path}${of}`, undefined, asOf(point))
      const body = accepted(answer)
      assert.equal(positionOf(answer), point)
      return body
    }
    const listed = async (point: bigint, query = '') => {
      const { data } = (await read(point, query)) as { data: Record<string, unknown>[] }
      return data.map(({ id, state, history_lines: lines }) => [id, state, lines])
    }
    const running = encodeURIComponent('{"state":"running"}')
    assert.deepEqual(await listed(before), [])
    assert.deepEqual(await listed(first), [['r', 'running', 1]])
    assert.deepEqual(await listed(first, `?filters=${running}`), [['r', 'running', 1]])
    assert.deepEqual(await listed(last, `?filters=${running}`), [])
    assert.deepEqual(await listed(last, '?order=%2Bcreated_at&limit=1'), [['r', 'finished', 2]])

    const past = await Promise.all(
      ['/r/history', '/r/history?keys=loss', '/r/history?stream=system'].map((of) => read(first, of)),
    )
    assert.deepEqual(
      past.map(({ rows }) => rows),
      [[{ _step: 0, loss: 0 }], [{ _step: 0, loss: 0 }], [{ cpu: 0 }]],
    )
    const { rows } = await read(last, '/r/history')
    assert.equal((rows as unknown[]).length, 2)
    const { data: lines } = (await read(first, '/r/console')) as { data: { line: string }[] }
    assert.deepEqual(
      lines.map(({ line }) => line),
      ['line 0'],
    )
    for (const of of ['/s/history', '/s/console'])
      assert.equal((await service.send('GET', `${path}${of}`, undefined, asOf(first))).status, 404)
  })

  it('refuses to list past runs by their summaries, of which the last ones are kept', async () => {
    const path = `/api/runs/${someProject()}`
    const position = positionOf(await service.post(path, { name: 'a run' }))
    for (const query of [
      `filters=${encodeURIComponent('{"summaryMetrics.loss":1}')}`,
      'order=summary_metrics.loss',
    ]) {
      const answer = await service.send('GET', `${path}?${query}`, undefined, asOf(position))
      assert.equal(answer.status, 422)
      assert.match(answer.text, /as of a position cannot have the field summary/)
      accepted(await service.send('GET', `${path}?${query}`))
    }
  })

  it('sees the versions of an artifact as they were, with their aliases and tags', async () => {
    const project = someProject()
    const before = await service.stores.eventStore.head()
    const path = `/api/artifacts/${project}/model/versions`
    const version = (n: number) => service.post(path, { metadata: { n }, aliases: ['best'] })
    const first = positionOf(await version(0))
    accepted(await service.post(`${path}/v0/tags`, { tag: 'checked' }))
    accepted(await version(1))

    const read = (point: bigint, of = '') => service.send('GET', `${path}${of}`, undefined, asOf(point))
    assert.equal((await read(before)).status, 404)
    const shown = ({ version, aliases, tags }: Record<string, unknown>) => ({ version, aliases, tags })
    const asItWas = { version: 'v0', aliases: ['best', 'latest'], tags: [] }
    const { data } = accepted(await read(first)) as { data: Record<string, unknown>[] }
    assert.deepEqual(data.map(shown), [asItWas])
    assert.deepEqual(shown(accepted(await read(first, '/best'))), asItWas)
    assert.equal((await read(first, '/v1')).status, 404)
    assert.deepEqual(shown(accepted(await service.send('GET', `${path}/v0`))), {
      ...asItWas,
      aliases: [],
      tags: ['checked'],
    })
    const head = await service.stores.eventStore.head()
    assert.equal((await read(head + 1000n)).status, 400)
    assertRefused(await service.send('GET', `/api/artifacts/${project}`, undefined, asOf(first)))
  })

  it('is refused where only the present is known', async () => {
    const project_id = someProject()
    for (const [path, body] of [
      ['/calls/delete', { project_id, call_ids: ['c'] }],
      ['/table/create_from_digests', { project_id, row_digests: [] }],
      ['/graphql', { query: '{ viewer { username } }' }],
    ] as const)
      assertRefused(await service.post(path, body, asOf('0')))
  })

  it('is refused with a write, which writes nothing then', async () => {
    const project_id = someProject()
    const start = { start: aStart(project_id, { id: 'c' }) }
    const before = await service.stores.eventStore.head()
    assertRefused(await service.post('/call/start', start, asOf(before)))
    assertRefused(await service.post('/call/start', 'no JSON at all', asOf('nor a point in history')))
    assertRefused(await service.with(asOf(before)).teams.create(project_id.split('/')[0]!))
    assert.equal(await service.stores.eventStore.head(), before)
    accepted(await service.post('/call/start', start))
  })

  const assertRefused = ({ status, text }: Answered) => {
    assert.equal(status, 422, text)
    assert.match(text, /"loc":\["header","Tallytree-As-Of"\].*reads and writes the present: omit it/)
  }

  it('may wait for another position first, and for none if it may be stale', async () => {
    const project_id = someProject()
    const position = await started(project_id, 'c')
    const far = { 'Tallytree-Min-Position': '9'.repeat(19), 'Tallytree-As-Of': String(position) }
    assert.equal((await service.in(project_id).with({ headers: far }).calls.query()).status, 503)
    const headers = { ...far, 'Tallytree-Stale': 'allow' }
    for (const path of ['/calls/query', '/call/read']) {
      const answer = await service.post(path, { project_id, ...READS[path] }, { headers })
      assert.equal(answer.status, 200)
      assert.ok(positionOf(answer) <= position)
    }
  })

  it('finds files that were stored by then', async () => {
    const project_id = someProject()
    const before = await service.stores.eventStore.head()
    const body = ['project_id', project_id, 'file"; filename="f', randomBytes(20).toString('hex')]
    const form = `--x\r\nContent-Disposition: form-data; name="${body[0]}"\r\n\r\n${body[1]}\r\n--x\r\nContent-Disposition: form-data; name="${body[2]}"\r\n\r\n${body[3]}\r\n--x--\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const stored = await service.post('/files/create', form, { headers })
    const { digest } = accepted(stored)
    const read = (point: bigint) => service.post('/files/content', { project_id, digest }, asOf(point))
    assert.equal((await read(before)).status, 404)
    assert.equal((await read(positionOf(stored))).text, body[3])
  })
})

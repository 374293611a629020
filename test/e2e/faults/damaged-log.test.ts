import assert from 'node:assert/strict'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { tallytree } from '../../support/command.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { scratchDirectory } from '../../support/scratch.js'
import { until } from '../../support/until.js'

const PROJECT = 'team/damaged'

const callOf = (id: string) => ({
  project_id: PROJECT,
  id,
  trace_id: `trace-${id}`,
  op_name: 'op',
  started_at: '2026-01-01T12:00:00Z',
  ended_at: '2026-01-01T12:00:01Z',
  attributes: {},
  inputs: { text: id },
  output: id,
  summary: { usage: { model: { requests: 1, prompt_tokens: 1234 } } },
})

interface Line {
  readonly id: string
  readonly type: string
  readonly stream: string
  readonly revision: string
  readonly position: string
  readonly unreadable?: string
  readonly data?: object
}

describe('a service with damaged events in its log', () => {
  let service: RunningService
  let copy: string
  let damaged: Readonly<Record<'start' | 'end' | 'used', Line>>

  const inLog = <A>(use: (db: Database.Database) => A): A => {
    const db = new Database(join(service.dataDirectory, 'events.db'))
    try {
      return use(db)
    } finally {
      db.close()
    }
  }
  const lines = async (query = ''): Promise<readonly Line[]> => {
    const { status, text } = await service.send('GET', `/api/events${query}`)
    assert.equal(status, 200, text)
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line)
  }
  const lineOf = (events: readonly Line[], type: string, ending: string) =>
    events.find(({ type: of, stream }) => of === type && stream.endsWith(ending))!
  const ids = async () => {
    const answer = await service.post('/calls/query', { project_id: PROJECT })
    if (answer.status === 503) return undefined
    return answer
      .json<{ calls: readonly { id: string }[] }>()
      .calls.map(({ id }) => id)
      .sort()
  }

  before(async () => {
    service = await startRunningService()
    const batch = ['a', 'b', 'c', 'd'].map(callOf)
    const written = await service.post(`/v2/${PROJECT}/calls/complete`, { batch })
    assert.equal(written.status, 200, written.text)
    await service.send('GET', '/api/teams')
    await until(async () => (await lines()).some(({ type }) => type === 'ApiKeyUsed'))
    const events = await lines()
    damaged = {
      start: lineOf(events, 'CallStarted', '/a'),
      end: lineOf(events, 'CallEnded', '/b'),
      used: lineOf(events, 'ApiKeyUsed', 'access-directory'),
    }
    await service.stop()
    copy = join(await scratchDirectory(), 'copy')
    await cp(service.dataDirectory, copy, { recursive: true })

    const change = (line: Line, from: string, to: string) =>
      inLog((db) =>
        db
          .prepare('UPDATE events SET data = replace(data, ?, ?) WHERE position = ?')
          .run(from, to, line.position),
      )
    assert.equal(change(damaged.start, '"', "'").changes, 1)
    assert.equal(change(damaged.end, '1234', '1235').changes, 1)
    assert.equal(change(damaged.used, 'key_id', 'key_ie').changes, 1)
    await rm(join(service.dataDirectory, 'clickhouse'), { recursive: true })
    await service.restart()
  })
  after(() => service.remove())

  it('answers all other reads after a start without read models', async () => {
    await until(async () => (await ids())?.join() === 'c,d' || (await ids())?.join() === 'b,c,d', 60_000)

    const usage = await service.post('/trace/usage', { project_id: PROJECT })
    assert.notEqual(usage.status, 500)
  })

  it('shows them as unreadable in GET /api/events', async () => {
    const events = await lines()
    const changed = 'it is not as it was written'
    assert.deepEqual(
      events.filter(({ unreadable }) => unreadable !== undefined),
      [damaged.start, damaged.end, damaged.used]
        .map(({ id, type, stream, revision, position }) => ({
          id,
          type,
          stream,
          revision,
          position,
          unreadable: changed,
        }))
        .sort((one, other) => Number(one.position) - Number(other.position)),
    )
    const ofStream = await lines(`?stream=${encodeURIComponent(damaged.end.stream)}`)
    assert.deepEqual(
      ofStream.map(({ unreadable }) => unreadable),
      [undefined, changed],
    )
  })

  it('refuses what is folded from their streams with a 409 that names the place', async () => {
    const read = await service.post('/call/read', { project_id: PROJECT, id: 'a' })
    const renamed = await service.post('/call/update', {
      project_id: PROJECT,
      call_id: 'b',
      display_name: 'x',
    })

    for (const [answer, { stream, position }] of [
      [read, damaged.start],
      [renamed, damaged.end],
    ] as const)
      assert.deepEqual(
        [answer.status, answer.json()],
        [
          409,
          {
            reason:
              `Stream ${stream} cannot be read at position ${position} of the event log: it is not as it was written. ` +
              'Repeating the request does not help.',
          },
        ],
      )
    assert.equal((await service.post('/call/read', { project_id: PROJECT, id: 'c' })).status, 200)
  })

  it('is degraded in /health, and logs each event once', async () => {
    const { status, json } = await service.send('GET', '/health')
    const health = json<{ status: string; event_log: string; quarantined_events: string }>()
    assert.equal(status, 200)
    assert.equal(health.status, 'degraded')
    assert.match(
      health.event_log,
      /^3 events of the event log cannot be read, the first found at position \d+; /,
    )

    const logged = service.output().match(/"log\.event_unreadable"/g)
    assert.equal(logged?.length, 3)
    assert.doesNotMatch(service.output(), /SyntaxError/)
  })

  it('ends a rebuild', async () => {
    const { code, stderr } = await tallytree(['rebuild', '--url', service.address], {
      TALLYTREE_API_KEY: service.key,
      TALLYTREE_URL: service.address,
    })
    assert.equal(code, 0, stderr)
  })

  it('has them listed by verify, and copied by replay only once they are restored', async () => {
    await service.stop()
    const verified = await tallytree(['verify', service.dataDirectory])
    assert.equal(verified.code, 1, verified.stderr)
    for (const { position, stream } of Object.values(damaged))
      assert.ok(
        verified.stdout.includes(`position ${position}: stream "${stream}": it is not as it was written\n`),
        verified.stdout,
      )
    const to = join(await scratchDirectory(), 'to')
    const replayed = await tallytree(['replay', '--from', service.dataDirectory, '--to', to])
    assert.equal(replayed.code, 2)
    assert.match(replayed.stderr, /the event at position \d+ \(stream .*\) cannot be copied/)

    inLog((db) => {
      db.exec(`ATTACH '${join(copy, 'events.db')}' AS copy`)
      const restore = db.prepare(
        `UPDATE events SET (id, revision, type, data, metadata, recorded_at, seal) =
           (SELECT id, revision, type, data, metadata, recorded_at, seal FROM copy.events WHERE position = $at)
         WHERE position = $at`,
      )
      for (const { position } of Object.values(damaged)) restore.run({ at: position })
    })
    assert.equal((await tallytree(['verify', service.dataDirectory])).code, 0)
    await service.restart()
    assert.equal((await service.post('/call/read', { project_id: PROJECT, id: 'a' })).status, 200)
    assert.equal((await lines()).filter(({ unreadable }) => unreadable !== undefined).length, 0)
  })
})

describe('a service with a damaged page in its log', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const log = () => join(service.dataDirectory, 'events.db')
  const health = async () =>
    (await service.send('GET', '/health')).json<{ status: string; event_log?: string }>()
  const unreadable = async () => {
    const { status, text } = await service.send('GET', '/api/events')
    assert.equal(status, 200)
    const lines = text.split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as Line).filter((line) => line.unreadable !== undefined)
  }

  it('is read around the page, and refuses only its streams until the log is restored', async () => {
    const inputs = { text: 'x'.repeat(2000) }
    const batch = Array.from({ length: 100 }, (_, index) => ({ ...callOf(`call-${index}`), inputs }))
    assert.equal((await service.post(`/v2/${PROJECT}/calls/complete`, { batch })).status, 200)
    await until(async () => (await service.post('/calls/query', { project_id: PROJECT })).status === 200)
    await service.stop()
    const db = new Database(log())
    const page = db
      .prepare(
        "SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 10",
      )
      .pluck()
      .get() as number
    const size = db.pragma('page_size', { simple: true }) as number
    db.close()
    const [whole, tree] = [await readFile(log()), await readFile(join(service.dataDirectory, 'log-tree.db'))]
    const damaged = Buffer.from(whole)
    damaged.fill(0xff, (page - 1) * size, page * size)
    await writeFile(log(), damaged)
    await service.restart()

    const lost = await unreadable()
    const calls = new Set(lost.map(({ stream }) => /\/call-(\d+)$/.exec(stream)?.[1]))
    assert.ok(lost.length > 0 && calls.size < batch.length)
    assert.ok(lost.every((line) => line.unreadable === 'its page of events.db is damaged'))
    for (const [index] of batch.entries()) {
      const call_id = `call-${index}`
      const updated = await service.post('/call/update', { project_id: PROJECT, call_id, display_name: 'x' })
      assert.equal(updated.status, calls.has(String(index)) ? 409 : 200, updated.text)
    }
    const { status, event_log } = await health()
    assert.equal(status, 'degraded')
    assert.match(event_log ?? '', new RegExp(`${lost.length} `))
    const logged = service.output().match(/"log\.event_unreadable"/g)
    assert.equal(logged?.length, lost.length)

    await service.stop()
    const { code, stdout } = await tallytree(['verify', service.dataDirectory])
    assert.equal(code, 1)
    for (const { position, stream } of lost)
      assert.ok(stdout.includes(`position ${position}: stream "${stream}": its page of events.db is damaged`))

    await rm(`${log()}-wal`, { force: true })
    await writeFile(log(), whole)
    // What was written to the damaged log is lost, and was signed.
    await assert.rejects(service.restart(), /the log was restored from another or an older backup/)
    await writeFile(join(service.dataDirectory, 'log-tree.db'), tree)
    await service.restart()
    assert.deepEqual(await unreadable(), [])
    await until(async () => (await health()).status === 'ok')
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { newEvent } from '../../../src/kernel/event.js'
import type { RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { startTestService, type TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted, textIn } from '../calls/given.js'

interface Line {
  readonly id: string
  readonly type: string
  readonly stream: string
  readonly revision: string
  readonly position: string
  readonly recorded_at: string
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: object
}

const told = ({ revision, position, recordedAt, size: _, ...event }: RecordedEvent) => ({
  ...event,
  revision: String(revision),
  position: String(position),
  recorded_at: recordedAt.toISOString(),
})

describe('GET /api/events', () => {
  let service: TestService
  const [own, other] = [1, 2].map(() => `team-${randomUUID().slice(0, 8)}`) as [string, string]
  let key: string

  before(async () => {
    service = await sharedService()
    await service.teams.create(own).json()
    const added = await service.post(`/api/teams/${own}/members`, { user: `u-${own}`, role: 'member' })
    key = textIn(accepted(added), 'api_key')
    for (const team of [own, other, own, other]) await service.in(`${team}/project`).calls.start().json()
    const project_id = `${own}/project`
    await service.in(project_id).objects.create('x', {}).json()
  })

  const ask = async (query = '', as?: string) => {
    const answer = await service.send(
      'GET',
      `/api/events${query}`,
      undefined,
      as === undefined ? {} : { key: as },
    )
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers.get('content-type'), 'application/x-ndjson')
    assert.ok(answer.text === '' || answer.text.endsWith('\n'))
    return answer.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line)
  }

  const log = async () => {
    const events: RecordedEvent[] = []
    for await (const event of service.stores.eventStore.readAll()) events.push(event)
    return events.map(told)
  }

  it('answers the whole log to the administrator, in its order, with the keys of nobody', async () => {
    const lines = await ask()
    assert.deepEqual(lines, await log())
    assert.ok(lines.some(({ stream }) => stream === 'access-directory'))
    assert.ok(!JSON.stringify(lines).includes(key))
  })

  it("answers to others the events of their teams' projects alone", async () => {
    const expected = (await log()).filter(({ data }) => data['project_id'] === `${own}/project`)
    assert.equal(expected.length, 3)
    const lines = await ask('', key)
    assert.deepEqual(lines, expected)
    assert.ok(!/access-directory|"hash"/.test(JSON.stringify(lines)))
    for (const stream of [
      'access-directory',
      (await log()).find(({ stream }) => stream.includes(other))!.stream,
    ])
      assert.deepEqual(await ask(`?stream=${encodeURIComponent(stream)}`, key), [])
  })

  it('answers to a team what it has besides projects, and to no other', async () => {
    const key = async (team: string) => {
      const user = `u-${randomUUID().slice(0, 8)}`
      const roles = ['team_administrator']
      return await service.teams.keyOf(team, user, roles)
    }
    const teams = [own, other]
    const keys = await Promise.all(teams.map(key))
    for (const [i, team] of teams.entries()) {
      const options = { key: keys[i]! }
      const post = async (path: string, body: object) => accepted(await service.post(path, body, options))
      await post('/api/registries', { name: 'models', team })
      await post(`/api/artifacts/${team}/project/model/versions`, { metadata: { of: team } })
      const source = { entity: team, project: 'project', collection: 'model', version: 'latest' }
      await post('/api/registries/models/good/links', source)
      await post('/api/registries/models/good/versions/v0/aliases', { alias: 'production' })
      await post(`/api/runs/${team}/project`, { name: 'a run', id: 'run' })
      await post(`/api/runs/${team}/project/run/metrics`, { metrics: { loss: 1 }, step: 1 })
      const of = { id: `webhook-of-${team}`, team, duration_ms: 1, status: 200 }
      const cause = { correlationId: 'c', causationId: 'c', actor: 'system' }
      const tested = newEvent(randomUUID(), { type: 'TestSent', data: of }, cause)
      await service.stores.eventStore.append(`webhook-${of.id}`, 'none', [tested])
    }
    const kinds = (lines: readonly Line[]) => new Set(lines.map(({ stream }) => stream.split('-')[0]))
    for (const [i, team] of teams.entries()) {
      const lines = await ask('', keys[i])
      const ofTeam = (line: Line) =>
        line.data['team'] === team || line.data['project_id'] === `${team}/project`
      assert.ok(lines.every(ofTeam))
      assert.deepEqual(lines, (await log()).filter(ofTeam))
      for (const kind of ['artifact', 'registry', 'registered', 'run', 'webhook', 'access'])
        assert.ok(kinds(lines).has(kind))
      assert.ok(!/"hash"/.test(JSON.stringify(lines)))
      const theirs = teams[1 - i]!
      for (const stream of [
        `registry-${theirs}`,
        `registered-${theirs}/models/good`,
        `artifact-${theirs}/project/model`,
        `run-${theirs}/project/run`,
        `webhook-webhook-of-${theirs}`,
      ]) {
        assert.deepEqual(await ask(`?stream=${stream}`, keys[i]), [])
        assert.ok((await ask(`?stream=${stream.replace(theirs, team)}`, keys[i])).length > 0)
      }
    }
  })

  it('answers to members of a team no more of it than other endpoints show them', async () => {
    const url = 'https://hooks.example/services/who-knows-it-may-post'
    accepted(await service.post(`/api/teams/${own}/webhooks`, { name: `hook-${randomUUID()}`, url }))
    assert.ok(JSON.stringify(await ask()).includes(url))
    const id = randomUUID()
    const health = { id, team: own, state: 'failing', consecutive_failures: 3, last_error: 'dns:ENOTFOUND' }
    const cause = { correlationId: 'c', causationId: 'c', actor: 'system' }
    await service.stores.eventStore.append(`webhook_health-${id}`, 'none', [
      newEvent(randomUUID(), { type: 'WebhookHealthChanged', data: health }, cause),
    ])
    assert.deepEqual(await ask('?types=WebhookHealthChanged', key), [])
    assert.deepEqual(await ask(`?stream=webhook_health-${id}`, key), [])
    assert.equal((await ask(`?stream=webhook_health-${id}`)).length, 1)
    const lines = await ask('', key)
    assert.ok(lines.some(({ stream }) => stream === `names-${own}`))
    assert.ok(
      !/^(webhook|webhook_health|secret|limits)-|^(upstreams|access-directory)$/m.test(
        lines.map(({ stream }) => stream).join('\n'),
      ),
    )
  })

  it('goes on behind any position, in pieces of any size', async () => {
    // Other files of the worker write to the shared service's log, which may be long.
    const last = (await log()).slice(-20)
    const from = last[0]!.position
    const whole = await ask(`?after=${from}`)
    const pieces: Line[] = []
    for (let piece = await ask(`?limit=3&after=${from}`); piece.length > 0;) {
      pieces.push(...piece)
      piece = await ask(`?limit=3&after=${pieces.at(-1)!.position}`)
    }
    assert.deepEqual(pieces, last.slice(1))
    assert.deepEqual(pieces, whole)
    assert.deepEqual(await ask('?after=9223372036854775807'), [])
  })

  it('answers one stream, or certain types', async () => {
    const events = await log()
    const stream = events.find(({ type }) => type === 'ObjectPublished')!.stream
    assert.deepEqual(
      await ask(`?stream=${encodeURIComponent(stream)}`),
      events.filter((event) => event.stream === stream),
    )
    assert.deepEqual(
      await ask('?types=ObjectPublished,TeamCreated'),
      events.filter(({ type }) => ['ObjectPublished', 'TeamCreated'].includes(type)),
    )
    assert.deepEqual(await ask('?types=CallDeleted,FileStored&stream=access-directory'), [])
  })

  it('goes back from any position, newest first, in pieces of any size', async () => {
    const last = (await log()).slice(-20).toReversed()
    const until = last.at(-1)!.position
    const pieces: Line[] = []
    for (let piece = await ask(`?order=desc&limit=3&after=${until}`); piece.length > 0;) {
      pieces.push(...piece)
      piece = await ask(`?order=desc&limit=3&after=${until}&before=${pieces.at(-1)!.position}`)
    }
    assert.deepEqual(pieces, last.slice(0, -1))
    const { stream } = last.find(({ revision }) => revision !== '0') ?? last[0]!
    assert.deepEqual(
      await ask(`?order=desc&stream=${encodeURIComponent(stream)}`),
      (await log()).filter((event) => event.stream === stream).toReversed(),
    )
    assert.deepEqual(await ask('?order=desc&before=0'), [])
    assert.deepEqual(await ask(`?before=${last[3]!.position}&after=${last[5]!.position}`), [last[4]])
    const sealed = await ask('?order=desc&limit=1&seal=true&types=ObjectPublished')
    assert.deepEqual(
      sealed,
      await ask(`?stream=${encodeURIComponent(sealed[0]!.stream)}&seal=true&order=desc&limit=1`),
    )
  })

  it('finds the events of a project, of an object and of an actor, both ways', async () => {
    const project_id = `${own}/found-${randomUUID().slice(0, 8)}`
    const start = await service.in(project_id).calls.start().json()
    await service.in(`${other}/found`).calls.start({ id: start.id }).json()
    await service.in(project_id).objects.create('x', {}).json()
    await service.in(project_id).objects.create('x', { n: 2 }).json()
    const options = { key: await service.teams.keyOf(own, `u-${randomUUID()}`, ['team_administrator']) }
    const hook = { name: `hook-${randomUUID()}`, url: 'https://hooks.example/' }
    const { id } = accepted(await service.post(`/api/teams/${own}/webhooks`, hook, options)) as { id: string }
    const webhook = (await log()).find(({ stream }) => stream === `webhook-${id}`)!
    const { actor } = webhook.metadata

    const whole = await log()
    const ofProject = whole.filter(({ data }) => data['project_id'] === project_id)
    assert.ok(ofProject.length >= 3)
    const ofCall = whole.filter(({ stream }) => stream === `call-${project_id}/${start.id}`)
    for (const [query, expected] of [
      ['', ofProject],
      ['&types=ObjectPublished', ofProject.filter(({ type }) => type === 'ObjectPublished')],
      [`&object=${start.id}`, ofCall],
      ['&object=x', ofProject.filter(({ stream }) => stream === `object-${project_id}/x`)],
      [`&object=${id}`, whole.filter(({ stream }) => stream === webhook.stream)],
      [`&object=${id}&actor=${actor}`, [webhook]],
      ['&actor=nobody', []],
      ['&object=nothing', []],
      [`&stream=${webhook.stream}`, [webhook]],
    ] as const) {
      assert.deepEqual(await ask(`?project_id=${project_id}${query}`), expected, query)
      assert.deepEqual(
        await ask(`?project_id=${project_id}&order=desc${query}`),
        expected.toReversed(),
        query,
      )
    }
    assert.deepEqual(
      await ask(`?actor=${actor}`),
      whole.filter(({ metadata }) => metadata.actor === actor),
    )
    assert.deepEqual(await ask(`?project_id=${project_id}&order=desc`, key), ofProject.toReversed())
    assert.deepEqual(await ask(`?project_id=${project_id}&object=${id}`, key), [])
    assert.deepEqual(await ask(`?project_id=${other}/found`, key), [])
    assert.deepEqual(await ask(`?project_id=${other}/found&object=${start.id}`, key), [])
  })

  it('names the parameter that is wrong', async () => {
    for (const [name, values] of [
      ['before', ['-1', 'x', '9223372036854775808']],
      ['order', ['', 'DESC', 'newest']],
      ['project_id', ['', 'x', 'a/b/c']],
      ['object', ['x']],
      ['after', ['-1', '', 'x', '1e3', '9223372036854775808', '1&after=2']],
      ['limit', ['0', '-1', '', '1.5', 'all', '9'.repeat(30)]],
      ['types', ['', 'Unknown', 'CallStarted,', 'CallStarted,Unknown', 'callstarted']],
      ['follow', ['true']],
      ['stream', ['a&stream=b']],
    ] as const)
      for (const value of values) {
        const answer = await service.send('GET', `/api/events?${name}=${value}`)
        assert.equal(answer.status, 422, `${name}=${value}`)
        assert.deepEqual(answer.json<{ detail: { loc: unknown }[] }>().detail[0]!.loc, ['query', name])
      }
  })
})

describe('GET /api/events of a member, over a log of which little is theirs', () => {
  const OTHERS = 45_000
  let service: TestService
  let key: string
  before(async () => {
    service = await startTestService()
    for (const team of ['mine', 'theirs']) await service.teams.create(team).json()
    key = await service.teams.keyOf('mine', 'u', 'member')
    await service.in('mine/project').calls.start().json()
    const cause = { correlationId: 'c', causationId: 'c', actor: 'system' }
    const data = { id: 'webhook', team: 'theirs', duration_ms: 1, status: 200 }
    for (let from = 0; from < OTHERS; from += 500) {
      const events = Array.from({ length: 500 }, () =>
        newEvent(randomUUID(), { type: 'TestSent', data }, cause),
      )
      await service.stores.eventStore.append(`webhook-${from}`, 'none', events)
    }
    await service.in('mine/project').calls.start().json()
  })
  after(() => service.stop())

  const ask = async (query: string) => {
    const { status, text } = await service.send('GET', `/api/events${query}`, undefined, { key })
    assert.equal(status, 200, text)
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line & { more?: true })
  }

  it('ends after a bounded number of events, with a position to go on after', async () => {
    const [first, cursor, ...rest] = await ask('?types=CallStarted')
    assert.equal(first?.type, 'CallStarted')
    assert.deepEqual(cursor, { position: cursor?.position, more: true })
    assert.deepEqual(rest, [])
    assert.deepEqual(
      (await ask(`?after=${cursor.position}&types=CallStarted`)).map(({ more }) => more),
      [true],
    )
  })

  it('searches backwards within the same bound, for the administrator too', async () => {
    const seen: Line[] = []
    let answers = 0
    for (let before: string | undefined = '9223372036854775807'; before !== undefined; answers += 1) {
      const query = `/api/events?order=desc&project_id=mine/project&before=${before}`
      const { text } = await service.send('GET', query)
      const lines = text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line & { more?: true })
      seen.push(...lines.filter(({ more }) => more !== true))
      before = lines.find(({ more }) => more === true)?.position
    }
    assert.deepEqual(
      seen.map(({ type }) => type),
      ['CallStarted', 'CallStarted'],
    )
    assert.equal(answers, 3)
  })

  for (const limit of ['', '&limit=1'])
    it(`shows everything to a client that goes on after the last line until there is none: ${limit}`, async () => {
      const seen: Line[] = []
      let answers = 0
      for (let lines = await ask(`?after=0${limit}`); lines.length > 0; answers += 1) {
        seen.push(...lines.filter(({ more }) => more !== true))
        lines = await ask(`?after=${lines.at(-1)!.position}${limit}`)
      }
      assert.equal(seen.filter(({ type }) => type === 'CallStarted').length, 2)
      assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length)
      assert.ok(answers <= 6 + seen.length, `${answers} answers`)
    })
})

describe('GET /api/blobs', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('gives the administrator what an event names, and nobody else anything', async () => {
    const team = `team-${randomUUID().slice(0, 8)}`
    await service.teams.create(team).json()
    const added = await service.post(`/api/teams/${team}/members`, {
      user: `u-${team}`,
      role: 'team_administrator',
    })
    const key = textIn(accepted(added), 'api_key')
    const digest = await service.stores.blobs.put(Buffer.from('content'))

    const read = await service.send('GET', `/api/blobs/${digest}`)
    assert.deepEqual([read.status, read.text, read.headers.get('content-length')], [200, 'content', '7'])
    for (const named of ['0'.repeat(64), 'x', '..%2F..%2Fevents.db', digest.toUpperCase()])
      assert.equal((await service.send('GET', `/api/blobs/${named}`)).status, 404, named)
    for (const named of [digest, '0'.repeat(64)])
      assert.equal((await service.send('GET', `/api/blobs/${named}`, undefined, { key })).status, 403)
    assert.equal((await service.send('GET', '/api/admin/digests', undefined, { key })).status, 403)
  })
})

describe('GET /api/admin/digests', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  interface Digests {
    readonly position: string
    readonly digests: readonly { readonly model: string; readonly rows: number; readonly digest: string }[]
  }

  it('speaks of what was written last, and of any position before it as it was then', async () => {
    const project = `team-${randomUUID().slice(0, 8)}/project`
    const { calls } = service.in(project)
    const first = await calls.start()
    accepted(first)
    const at = first.headers.get('tallytree-position')!
    const then = (await service.send('GET', '/api/admin/digests')).json<Digests>()
    assert.equal(then.position, at)
    await calls.start().json()

    const now = (await service.send('GET', '/api/admin/digests')).json<Digests>()
    assert.equal(now.digests[0]!.rows, then.digests[0]!.rows + 1)
    assert.notEqual(now.digests[0]!.digest, then.digests[0]!.digest)
    assert.deepEqual((await service.send('GET', `/api/admin/digests?at=${at}`)).json(), then)
  })

  it('refuses positions beyond the head, and what is no position', async () => {
    const beyond = await service.send('GET', '/api/admin/digests?at=9223372036854775807')
    assert.equal(beyond.status, 400)
    assert.match(beyond.text, /"at\\" is beyond the end/)
    for (const query of ['at=x', 'at=', 'at=-1', 'position=1'])
      assert.equal((await service.send('GET', `/api/admin/digests?${query}`)).status, 422, query)
  })
})

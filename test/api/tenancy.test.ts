import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { sha256 } from '../../src/adapters/system/system.js'
import { digestedRow, tableDigest } from '../../src/domain/table/digests.js'
import type { Answered, TestService } from '../support/service.js'
import { OF_WEBHOOKS } from './automations/given.js'
import { endpointsOf, type Endpoint } from './http/endpoints.js'
import { OF_NEITHER } from './of-neither.js'
import { sharedService } from './shared-service.js'
import {
  accepted,
  aCompleted,
  anEnd,
  aStart,
  callOf,
  endItem,
  eventsOf,
  idsOf,
  reasonOf,
  startItem,
  textIn,
  writesNothing,
} from './tracing/given.js'

interface Ask {
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

const form = (project: string): Ask => ({
  body: [
    '--x\r\nContent-Disposition: form-data; name="project_id"\r\n\r\n',
    `${project}\r\n`,
    '--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\ncontent\r\n--x--\r\n',
  ].join(''),
  headers: { 'content-type': 'multipart/form-data; boundary=x' },
})

const CALL = 'some-call'

/** The file that `form` stores. */
const fileIn = (project_id: string): Ask => ({
  body: { project_id, digest: createHash('sha256').update('content').digest('base64url').replace('-', 'X') },
})

/** Named as the paths name everything. */
const OBJECT = { object_id: 'something', val: { a: 1 } }

const feedbackOn = (project_id: string) => ({
  project_id,
  weave_ref: `weave:///${project_id}/call/${CALL}`,
  feedback_type: 'custom',
  payload: {},
})
const ROW = { a: 1 }
const ROW_DIGEST = digestedRow(sha256, ROW).digest
const TABLE = tableDigest(sha256, [ROW_DIGEST])

/** A valid request to each endpoint that is about a project; what is not here must be said to be about none. */
const OF_PROJECTS: Readonly<Record<string, (project_id: string) => Ask>> = {
  'POST /call/start': (project) => ({ body: { start: aStart(project, { id: CALL }) } }),
  'POST /call/end': (project) => ({ body: { end: anEnd(project, CALL) } }),
  'POST /v2/{entity}/{project}/call/start': (project) => ({ body: { start: aStart(project, { id: CALL }) } }),
  'POST /v2/{entity}/{project}/call/end': (project) => ({ body: { end: anEnd(project, CALL) } }),
  'POST /call/upsert_batch': (project) => ({
    body: { batch: [startItem(aStart(project, { id: CALL })), endItem(anEnd(project, CALL))] },
  }),
  'POST /v2/{entity}/{project}/calls/complete': (project) => ({
    body: { batch: [aCompleted(project, { id: CALL })] },
  }),
  'POST /call/update': (project_id) => ({ body: { project_id, call_id: CALL, display_name: 'name' } }),
  'POST /calls/delete': (project_id) => ({ body: { project_id, call_ids: [CALL] } }),
  'POST /call/read': (project_id) => ({ body: { project_id, id: CALL } }),
  'POST /calls/query': (project_id) => ({ body: { project_id } }),
  'POST /calls/stream_query': (project_id) => ({ body: { project_id } }),
  'POST /calls/query_stats': (project_id) => ({ body: { project_id } }),
  'POST /calls/stats': (project_id) => ({
    body: { project_id, start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' },
  }),
  'POST /trace/usage': (project_id) => ({ body: { project_id } }),
  'POST /calls/usage': (project_id) => ({ body: { project_id, call_ids: [CALL] } }),
  'POST /obj/create': (project_id) => ({ body: { obj: { project_id, ...OBJECT } } }),
  'POST /feedback/create': (project) => ({ body: feedbackOn(project) }),
  'POST /feedback/batch/create': (project) => ({ body: { batch: [feedbackOn(project)] } }),
  'POST /feedback/query': (project_id) => ({ body: { project_id } }),
  'POST /feedback/purge': (project_id) => ({
    body: { project_id, query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'unknown' }] } } },
  }),
  'POST /feedback/replace': (project) => ({ body: { ...feedbackOn(project), feedback_id: 'unknown' } }),
  'POST /cost/create': (project_id) => ({
    body: { project_id, costs: { m: { prompt_token_cost: 1, completion_token_cost: 2 } } },
  }),
  'POST /cost/query': (project_id) => ({ body: { project_id } }),
  'POST /cost/purge': (project_id) => ({
    body: { project_id, query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'unknown' }] } } },
  }),
  'POST /obj/read': (project_id) => ({ body: { project_id, object_id: OBJECT.object_id, digest: 'latest' } }),
  'POST /objs/query': (project_id) => ({ body: { project_id } }),
  'PUT /objs/{object_id}/versions/{digest}/tags': (project_id) => ({ body: { project_id, tags: ['tag'] } }),
  'POST /objs/{object_id}/versions/{digest}/tags/remove': (project_id) => ({
    body: { project_id, tags: ['tag'] },
  }),
  'PUT /objs/{object_id}/aliases': (project_id) => ({
    body: { project_id, digest: 'latest', aliases: ['something'] },
  }),
  'POST /objs/{object_id}/aliases/remove': (project_id) => ({ body: { project_id, aliases: ['alias'] } }),
  'GET /tags': (project_id) => ({ query: `?project_id=${project_id}` }),
  'GET /aliases': (project_id) => ({ query: `?project_id=${project_id}` }),
  'POST /obj/delete': (project_id) => ({ body: { project_id, object_id: OBJECT.object_id } }),
  'POST /table/create': (project_id) => ({ body: { table: { project_id, rows: [ROW] } } }),
  'POST /table/create_from_digests': (project_id) => ({ body: { project_id, row_digests: [ROW_DIGEST] } }),
  'POST /table/update': (project_id) => ({
    body: { project_id, base_digest: TABLE, updates: [{ append: { row: { b: 1 } } }] },
  }),
  'POST /table/query': (project_id) => ({ body: { project_id, digest: TABLE } }),
  'POST /table/query_stream': (project_id) => ({ body: { project_id, digest: TABLE } }),
  'POST /table/query_stats': (project_id) => ({ body: { project_id, digest: TABLE } }),
  'POST /table/query_stats_batch': (project_id) => ({ body: { project_id, digests: [TABLE] } }),
  'POST /file/create': form,
  'POST /files/create': form,
  'POST /file/content': fileIn,
  'POST /files/content': fileIn,
  'PUT /api/projects/{entity}/{project}': () => ({ body: { usage_reporting: 'own' } }),
}

/** The same for the endpoints that are about a team. */
const OF_TEAMS: Readonly<Record<string, () => Ask>> = {
  'GET /api/teams/{team}/members': () => ({}),
  'POST /api/teams/{team}/members': () => ({ body: { user: 'somebody', role: 'member' } }),
  'DELETE /api/teams/{team}/members/{user}': () => ({}),
  'GET /api/teams/{team}/secrets': () => ({}),
  'PUT /api/teams/{team}/secrets/{name}': () => ({ body: { value: 'value' } }),
  'DELETE /api/teams/{team}/secrets/{name}': () => ({}),
  ...OF_WEBHOOKS,
}

const nameOf = ({ method, template }: Endpoint): string => `${method} ${template}`

/** Everything of an answer but the name of the request and the time. */
const imprint = ({ status, headers, text }: Answered) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name)),
})

describe('tenants', () => {
  let service: TestService
  /** The user's own team, another team with one call and one object, and a team nobody made. */
  const [own, other, none] = [1, 2, 3].map(() => `team-${randomUUID().slice(0, 8)}`) as [
    string,
    string,
    string,
  ]
  let key: string
  let otherKey: string

  const ask = async (endpoint: Endpoint, { query = '', body, headers }: Ask, as: string, prefix = '') =>
    service.send(endpoint.method, `${prefix}${endpoint.path}${query}`, body, {
      key: as,
      ...(headers && { headers }),
    })

  /** What is done to a version of an object, by an alias, needs one: some of it takes it away. */
  const publishFor = async ({ path }: Endpoint, project_id: string, as: string) => {
    if (!path.startsWith('/obj')) return
    accepted(await service.post('/obj/create', { obj: { project_id, ...OBJECT } }, { key: as }))
    const body = { project_id, digest: 'latest', aliases: ['something'] }
    accepted(await service.send('PUT', '/objs/something/aliases', body, { key: as }))
  }

  const endpoints = (entity: string) => endpointsOf(service, `${entity}/project`)

  before(async () => {
    service = await sharedService()
    const keyIn = async (team: string): Promise<string> => {
      accepted(await service.post('/api/teams', { name: team }))
      const added = await service.post(`/api/teams/${team}/members`, {
        user: `user-of-${team}`,
        role: 'team_administrator',
      })
      return textIn(accepted(added), 'api_key')
    }
    key = await keyIn(own)
    otherKey = await keyIn(other)
    for (const endpoint of await endpoints(other)) {
      const valid = OF_PROJECTS[nameOf(endpoint)]
      if (valid === undefined || /delete|update/.test(endpoint.path)) continue
      await publishFor(endpoint, `${other}/project`, otherKey)
      assert.equal((await ask(endpoint, valid(`${other}/project`), otherKey)).status, 200, nameOf(endpoint))
    }
  })

  it('are asked about at every endpoint there is', async () => {
    for (const endpoint of await endpoints(own))
      assert.ok(
        endpoint.isOpen ||
          nameOf(endpoint) in OF_PROJECTS ||
          nameOf(endpoint) in OF_TEAMS ||
          OF_NEITHER.has(nameOf(endpoint)),
        `${nameOf(endpoint)}: say here whether it is about a project, a team or neither`,
      )
  })

  it('without a key are told how to come by one, everywhere', async () => {
    for (const wrong of [null, 'x', 'a'.repeat(5000)])
      for (const { method, path, isOpen } of await endpoints(own)) {
        const answer = await service.send(method, path, undefined, { key: wrong })
        if (isOpen) assert.equal(answer.status, 200, path)
        else {
          assert.match(reasonOf(answer, 401), /API key is needed.*Basic.*Bearer.*POST \/api\/teams/, path)
          assert.match(answer.headers.get('www-authenticate') ?? '', /^Basic realm=/)
          assert.deepEqual(Object.keys(answer.json()), ['reason'])
        }
      }
  })

  it('without a key learn nothing of paths, bodies or projects', async () => {
    const imprints = new Set<string>()
    for (const { method, path, isOpen, takesJson } of await endpoints(other))
      if (!isOpen && takesJson)
        for (const body of ['{', { start: aStart(`${other}/project`) }, ' '.repeat(1_000_000)])
          imprints.add(JSON.stringify(imprint(await service.send(method, path, body, { key: null }))))
    assert.equal(imprints.size, 1)
  })

  it('read and write their own projects', async () => {
    for (const endpoint of await endpoints(own)) {
      const valid = OF_PROJECTS[nameOf(endpoint)]
      if (valid === undefined) continue
      for (const prefix of ['', '/traces']) {
        await publishFor(endpoint, `${own}/project`, key)
        const answer = await ask(endpoint, valid(`${own}/project`), key, prefix)
        assert.equal(answer.status, 200, nameOf(endpoint))
      }
    }
  })

  it('cannot tell a project of others from one that is not there, nor write to either', async () => {
    for (const endpoint of await endpoints(own)) {
      const valid = OF_PROJECTS[nameOf(endpoint)]
      if (valid === undefined) continue
      const answers: Answered[] = []
      await writesNothing(service, async () => {
        for (const entity of [other, none, own.toUpperCase(), `${own}x`, own.slice(0, -1)]) {
          const there = (await endpoints(entity)).find((one) => nameOf(one) === nameOf(endpoint))!
          answers.push(await ask(there, valid(`${entity}/project`), key))
        }
      })
      const [first, ...rest] = answers.map(imprint)
      assert.equal(first?.status, 404, nameOf(endpoint))
      assert.equal(reasonOf(answers[0]!, 404), 'Project not found, or the API key has no access to its team.')
      for (const one of rest) assert.deepEqual(one, first, nameOf(endpoint))
    }
  })

  it('cannot tell a team of others from one that is not there', async () => {
    for (const endpoint of await endpoints(own)) {
      const valid = OF_TEAMS[nameOf(endpoint)]
      if (valid === undefined) continue
      const imprints = await Promise.all(
        [other, none].map(async (team) => {
          const there = (await endpoints(team)).find((one) => nameOf(one) === nameOf(endpoint))!
          return imprint(await ask(there, valid(), key))
        }),
      )
      assert.equal(imprints[0]?.status, 404, nameOf(endpoint))
      assert.deepEqual(imprints[1], imprints[0])
    }
  })

  it('cannot reach a project of others through the path of their own', async () => {
    for (const path of [`/v2/${own}/project/call/start`, `/v2/${own}/project/call/end`]) {
      const part = path.endsWith('start')
        ? { start: aStart(`${other}/project`) }
        : { end: anEnd(`${other}/project`, CALL) }
      const answer = await service.post(path, part, { key })
      assert.equal(answer.status, 422)
      const unknown = JSON.stringify(part).replaceAll(other, none)
      assert.deepEqual(imprint(await service.post(path, unknown, { key })), imprint(answer))
    }
    for (const path of [`/v2/${other}/project/call/start`, `/v2/${none}/project/call/start`])
      reasonOf(await service.post(path, { start: aStart(`${own}/project`) }, { key }), 404)
    for (const path of [`/v2/${other}/project/calls/complete`, `/v2/${none}/project/calls/complete`])
      for (const batch of [[], [aCompleted(`${own}/project`)], ['odd']])
        reasonOf(await service.post(path, { batch }, { key }), 404)
  })

  it('have foreign elements of a batch refused like any other, whether or not the project is there', async () => {
    for (const entity of [other, none]) {
      const id = randomUUID()
      const batch = [
        startItem(aStart(`${own}/project`, { id: `a-${id}` })),
        startItem(aStart(`${entity}/project`, { id: `b-${id}` })),
        endItem(anEnd(`${entity}/project`, CALL, { output: 'overwritten' })),
        startItem({ ...aStart(`${entity}/project`, { id: `c-${id}` }), op_name: 7 }),
      ]
      const answer = await service.post('/call/upsert_batch', { batch }, { key })
      assert.deepEqual(accepted(answer)['res'], [
        { id: `a-${id}`, trace_id: `a-${id}` },
        { id: `b-${id}`, trace_id: `b-${id}` },
        {},
        { id: `c-${id}`, trace_id: `c-${id}` },
      ])
      assert.equal(answer.headers.get('tallytree-refused'), '3')
      assert.deepEqual(await eventsOf(service, `intake-${entity}/project`), [])
      assert.deepEqual(await eventsOf(service, `call-${entity}/project/b-${id}`), [])
    }
    const kept = await eventsOf(service, `intake-${own}/project`)
    assert.deepEqual(
      kept.map(({ data }) => data['msg']),
      [1, 2].flatMap(() => [
        'Value error, the project was not found',
        'Value error, the project was not found',
        'Input should be a valid string',
      ]),
    )
  })

  it('never see each other’s calls of the same ids', async () => {
    for (const [entity, as, output] of [
      [own, key, 'mine'],
      [other, otherKey, 'theirs'],
    ] as const) {
      const project = `${entity}/same`
      const batch = [
        startItem(aStart(project, { id: 'c', trace_id: 't' })),
        endItem(anEnd(project, 'c', { output })),
      ]
      accepted(await service.post('/call/upsert_batch', { batch }, { key: as }))
    }
    for (const [entity, output] of [
      [own, 'mine'],
      [other, 'theirs'],
    ] as const) {
      const project = `${entity}/same`
      assert.equal((await callOf(service, project, 'c')).output, output)
      assert.deepEqual(await idsOf(service, { project_id: project, filter: { trace_ids: ['t'] } }), ['c'])
    }
    accepted(await service.post('/calls/delete', { project_id: `${own}/same`, call_ids: ['c'] }, { key }))
    assert.equal(await callOf(service, `${own}/same`, 'c'), null)
    assert.equal((await callOf(service, `${other}/same`, 'c')).output, 'theirs')
  })

  it('are told of the user of their own key alone', async () => {
    const project = `${own}/project`
    const start = aStart(project, { id: 'whose', wb_user_id: `user-of-${other}` })
    accepted(await service.post('/call/start', { start }, { key }))
    assert.equal((await callOf(service, project, 'whose')).wb_user_id, `user-of-${own}`)
  })

  it('who are in no team keep nothing anywhere', async () => {
    const team = `team-${randomUUID().slice(0, 8)}`
    accepted(await service.post('/api/teams', { name: team }))
    const added = await service.post(`/api/teams/${team}/members`, { user: `u-${team}`, role: 'member' })
    accepted(await service.send('DELETE', `/api/teams/${team}/members/u-${team}`))
    const options = { key: textIn(accepted(added), 'api_key') }
    await writesNothing(service, async () => {
      for (const batch of [
        ['odd'],
        [startItem(aStart(`${team}/project`))],
        ['odd', startItem(aStart(`${team}/project`))],
        [],
      ])
        reasonOf(await service.post('/call/upsert_batch', { batch }, options), 404)
    })
  })

  it('of the administrator come into being by being named', async () => {
    const team = `team-${randomUUID().slice(0, 8)}`
    const teams = async () => (await service.send('GET', '/api/teams?limit=1000')).text
    for (const path of ['/calls/query', '/trace/usage', '/calls/query_stats'])
      assert.equal((await service.post(path, { project_id: `${team}/p` })).status, 200)
    assert.ok(!(await teams()).includes(team))
    accepted(await service.post('/call/start', { start: aStart(`${team}/p`) }))
    assert.ok((await teams()).includes(team))
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answered } from '../support/client.js'
import type { TestService } from '../support/service.js'
import { OF_WEBHOOKS } from './webhooks/given.js'
import { endpointsOf, type Endpoint } from './http/endpoints.js'
import { OF_NEITHER } from './of-neither.js'
import { sharedService } from './shared-service.js'
import { CALL, makeFor, makeRegistryOf, OF_PROJECTS, OF_REGISTRIES, type Ask } from './requests-of-tenants.js'
import { aCompleted, anEnd, aStart, endItem, startItem } from '../support/call-requests.js'
import {
  accepted,
  eventsOf,
  refusedElementsOf,
  messageOf,
  anthropicMessageOf,
  statusMessageOf,
  reasonOf,
  textIn,
  writesNothing,
} from './calls/given.js'

/** Valid requests to the endpoints that are about a team; those about its registries name it in what is asked. */
const OF_TEAMS: Readonly<Record<string, (team: string) => Ask>> = {
  'GET /api/teams/{team}/projects': () => ({}),
  'GET /api/pages/teams/{team}/models': () => ({
    query: '?start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z',
  }),
  ...OF_REGISTRIES,
  'GET /api/teams/{team}/members': () => ({}),
  'POST /api/teams/{team}/members': () => ({ body: { user: 'somebody', role: 'member' } }),
  'DELETE /api/teams/{team}/members/{user}': () => ({}),
  'GET /api/teams/{team}/secrets': () => ({}),
  'PUT /api/teams/{team}/secrets/{name}': () => ({ body: { value: 'value' } }),
  'PATCH /api/teams/{team}/secrets/{name}': () => ({ body: { used_for: ['webhooks'] } }),
  'DELETE /api/teams/{team}/secrets/{name}': () => ({}),
  'PUT /api/teams/{team}/limits': () => ({ body: { scope: { type: 'team' }, concurrency: 1000 } }),
  'GET /api/teams/{team}/api-keys': () => ({}),
  'DELETE /api/teams/{team}/api-keys/{id}': () => ({}),
  'GET /api/teams/{team}/limits': () => ({}),
  'POST /api/teams/{team}/limits/write-offs': () => ({ body: { scope: { type: 'team' } } }),
  ...OF_WEBHOOKS,
}

/** Under `/v1` failures are told as clients of chat completions read them. */
const isOtlp = (template: string): boolean => /\/v1\/(?:traces|metrics|logs)$/.test(template)
const isAnthropic = (template: string): boolean => template.startsWith('/v1/messages')

const isChat = (template: string): boolean =>
  template.startsWith('/v1/') && !isOtlp(template) && !isAnthropic(template)

const nameOf = ({ method, template }: Endpoint): string => `${method} ${template}`

/** Everything of an answer but the name of the request and the time. */
const OF_ONE_REQUEST = ['x-request-id', 'request-id', 'date', 'openai-processing-ms']

const imprint = ({ status, headers, text }: Answered) => ({
  status,
  text: text.replace(/"request_id":"[^"]+"/, ''),
  headers: [...headers].filter(([name]) => !OF_ONE_REQUEST.includes(name)),
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

  const endpoints = (entity: string) => endpointsOf(service, `${entity}/project`)

  before(async () => {
    service = await sharedService()
    const keyIn = async (team: string): Promise<string> => {
      await service.teams.create(team).json()
      return service.teams.keyOf(team, `user-of-${team}`, 'team_administrator')
    }
    key = await keyIn(own)
    otherKey = await keyIn(other)
    for (const endpoint of await endpoints(other)) {
      const valid = OF_PROJECTS[nameOf(endpoint)]
      if (valid === undefined || /delete|update/.test(endpoint.path)) continue
      await makeFor(service, endpoint.path, `${other}/project`, otherKey)
      assert.equal((await ask(endpoint, valid(`${other}/project`), otherKey)).status, 200, nameOf(endpoint))
    }
    await makeRegistryOf(service, other, otherKey)
  })

  /** Other tests of this service ask for what has this name with the administrator's key. */
  after(() =>
    service.send('DELETE', '/api/registries/something/something/links/v0', undefined, { key: otherKey }),
  )

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
      for (const { method, path, template, isOpen } of await endpoints(own)) {
        const answer = await service.send(method, path, undefined, { key: wrong })
        // A sign-in has its key in the body.
        if (isOpen)
          assert.equal(
            answer.status,
            path.startsWith('/api/content') ? 403 : method === 'POST' ? 422 : 200,
            path,
          )
        else {
          const [tell, keys] = isChat(template)
            ? [messageOf, ['error', 'detail']]
            : isOtlp(template)
              ? [statusMessageOf, ['code', 'message']]
              : isAnthropic(template)
                ? [anthropicMessageOf, ['type', 'error', 'request_id']]
                : [reasonOf, ['reason']]
          assert.match(tell(answer, 401), /API key is required.*Basic.*Bearer.*POST \/api\/teams/, path)
          assert.match(answer.headers.get('www-authenticate') ?? '', /^Basic realm=/)
          assert.deepEqual(Object.keys(answer.json()), isGraphQl(template) ? [...keys, 'errors'] : keys)
        }
      }
  })

  it('without a key learn nothing of paths, bodies or projects', async () => {
    // APIs of model providers and GraphQL have errors in their own formats.
    const imprints = new Map<string, Set<string>>()
    for (const { method, path, template, isOpen, takesJson } of await endpoints(other))
      if (!isOpen && takesJson)
        for (const body of ['{', { start: aStart(`${other}/project`) }, ' '.repeat(1_000_000)])
          addTo(
            imprints,
            [isChat, isAnthropic, isGraphQl].findIndex((isOne) => isOne(template)).toString(),
            JSON.stringify(imprint(await service.send(method, path, body, { key: null }))),
          )
    assert.deepEqual(
      [...imprints.values()].map(({ size }) => size),
      [1, 1, 1, 1],
    )
  })

  it('read and write their own projects', async () => {
    for (const [index, endpoint] of (await endpoints(own)).entries()) {
      const valid = OF_PROJECTS[nameOf(endpoint)]
      if (valid === undefined) continue
      await makeFor(service, endpoint.path, `${own}/project`, key)
      const answer = await ask(endpoint, valid(`${own}/project`), key, index % 2 === 0 ? '' : '/traces')
      assert.equal(answer.status, 200, nameOf(endpoint))
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
      const tell = isOtlp(endpoint.template) ? statusMessageOf : reasonOf
      assert.equal(tell(answers[0]!, 404), 'Project not found, or the API key has no access to its team.')
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
          return imprint(await ask(there, valid(team), key))
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
      assert.deepEqual(await refusedElementsOf(service, `${entity}/project`), [])
      assert.deepEqual(await eventsOf(service, `call-${entity}/project/b-${id}`), [])
    }
    const kept = await refusedElementsOf(service, `${own}/project`)
    assert.deepEqual(
      kept.map(({ data }) => data['msg']),
      [1, 2].flatMap(() => [
        'Value error, project not found',
        'Value error, project not found',
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
      await service
        .in(project)
        .with({ key: as })
        .calls.batch([{ start: { id: 'c', trace_id: 't' } }, { end: { id: 'c', output } }])
        .json()
    }
    for (const [entity, output] of [
      [own, 'mine'],
      [other, 'theirs'],
    ] as const) {
      const project = `${entity}/same`
      assert.equal((await service.in(project).calls.read('c')).output, output)
      assert.deepEqual(await service.in(project).calls.ids({ filter: { trace_ids: ['t'] } }), ['c'])
    }
    await service.in(`${own}/same`).with({ key }).calls.delete('c').json()
    assert.equal(await service.in(`${own}/same`).calls.read('c'), null)
    assert.equal((await service.in(`${other}/same`).calls.read('c')).output, 'theirs')
  })

  it('are told of the user of their own key alone', async () => {
    const project = `${own}/project`
    const start = aStart(project, { id: 'whose', wb_user_id: `user-of-${other}` })
    await service.with({ key }).calls.start(start).json()
    assert.equal((await service.in(project).calls.read('whose')).wb_user_id, `user-of-${own}`)
  })

  it('who are in no team keep nothing anywhere', async () => {
    const team = `team-${randomUUID().slice(0, 8)}`
    await service.teams.create(team).json()
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
    // Other tests of this service leave more teams than a page has.
    const path = `/api/teams?after=${team.slice(0, -1)}`
    const isListed = async () => JSON.stringify(accepted(await service.send('GET', path))).includes(team)
    for (const read of ['/calls/query', '/trace/usage', '/calls/query_stats'])
      assert.equal((await service.post(read, { project_id: `${team}/p` })).status, 200)
    assert.ok(!(await isListed()))
    await service.in(`${team}/p`).calls.start().json()
    assert.ok(await isListed())
  })
})

const isGraphQl = (template: string): boolean => template === '/graphql'

const addTo = (sets: Map<string, Set<string>>, name: string, member: string): void => {
  sets.set(name, (sets.get(name) ?? new Set()).add(member))
}

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { ADMINISTRATOR_KEY, type TestService } from '../../support/service.js'
import { ask, dataOf } from '../graphql/given.js'
import { endpointsOf } from '../http/endpoints.js'
import { makeFor, OF_PROJECTS } from '../requests-of-tenants.js'
import { sharedService } from '../shared-service.js'
import { anAutomation, aWebhook, givenTeam } from '../webhooks/given.js'

const EVERYTHING = `it's <R&D>+é; -- 项目 "1" 😀`
const NAMES = [
  EVERYTHING,
  '😀'.repeat(128),
  'my project',
  'R&D',
  'проект',
  'naïve+é',
  '项目 "1"',
  "it's <x>; --",
]
/** The name in a body, in a path and in a query. */
const NAMED_IN = new Set(['/call/start', '/v2/{entity}/{project}/calls/complete', '/tags'])
const REFUSED = ['a\\b', 'a#b', 'a?b', 'a%b', 'a:b', 'a/b', ' a', 'a ', 'a\nb', 'e\u0301', 'x'.repeat(129)]

const RULE = /1 to 128 characters in Unicode normalization form C, without the characters \/ \\\\? # \? % :/

const UPSERT = `mutation ($input: UpsertModelInput!) {
  upsertModel(input: $input) { inserted model { id name entityName } } }`
const READ =
  'query ($name: String, $entityName: String) { project(name: $name, entityName: $entityName) { id name } }'

describe('the name of a project', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const aTeam = () => `team-${randomUUID().slice(0, 8)}`

  for (const name of NAMES)
    it(`may be ${name} at ${name === EVERYTHING ? 'every endpoint' : 'endpoints'} about a project`, async () => {
      const project = `${aTeam()}/${name}`
      for (const endpoint of await endpointsOf(service, project)) {
        const valid = OF_PROJECTS[`${endpoint.method} ${endpoint.template}`]
        if (valid === undefined || (name !== EVERYTHING && !NAMED_IN.has(endpoint.template))) continue
        await makeFor(service, endpoint.path, project, ADMINISTRATOR_KEY)
        const { query = '', body, headers = {} } = valid(project)
        const path = endpoint.path.replace(`/${name}`, () => `/${encodeURIComponent(name)}`)
        const named = query.replace(project, () => encodeURIComponent(project))
        const answer = await service.send(endpoint.method, path + named, body, { headers })
        assert.equal(answer.status, 200, `${endpoint.method} ${endpoint.template}: ${answer.text}`)
      }
    })

  for (const name of NAMES)
    it(`may be ${name} in GraphQL, references, filters, feedback and the audit log`, async () => {
      const entity = aTeam()
      const project = `${entity}/${name}`
      const { upsertModel } = dataOf(await ask(service, UPSERT, { input: { name, entityName: entity } }))
      assert.deepEqual(upsertModel, { inserted: true, model: { id: project, name, entityName: entity } })
      assert.deepEqual(dataOf(await ask(service, READ, { name, entityName: entity })), {
        project: { id: project, name },
      })

      const { calls, objects, refs, feedback } = service.in(project)
      const op = await objects.publish('op', { a: { b: 1 } })
      const op_name = op.replace('/object/', '/op/')
      await calls.start({ id: 'c', op_name, inputs: { self: op } })
      assert.deepEqual(await refs([`${op}/attr/a/attr/b`, `weave:///${project}/call/c/attr/id`]), [1, 'c'])
      for (const filter of [
        { op_names: [op_name] },
        { op_names: [`weave:///${project}/op/op:*`] },
        { input_refs: [op] },
        { input_refs: [`weave:///${project}/object/op:*`] },
      ])
        assert.deepEqual(await calls.ids({ filter }), ['c'], JSON.stringify(filter))
      const weave_ref = `weave:///${project}/call/c`
      await feedback.create({ weave_ref, feedback_type: 'custom', payload: { x: 1 } }).json()
      const query = { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: weave_ref }] } }
      assert.equal((await feedback.query({ query }).json()).result.length, 1)

      const stream = encodeURIComponent(`call-${project}/c`)
      const key = await service.teams.keyOf(entity, `user-of-${entity}`, 'member')
      const { text } = await service.send('GET', `/api/events?stream=${stream}`, undefined, { key })
      assert.match(text, /CallStarted/)
      await service.teams.create(`${entity}-b`).json()
      const other = await service.teams.keyOf(`${entity}-b`, `user-of-${entity}-b`, 'member')
      const hidden = await service.send('GET', `/api/events?stream=${stream}`, undefined, { key: other })
      assert.doesNotMatch(hidden.text, /CallStarted/)
    })

  for (const name of REFUSED)
    it(`may not be ${JSON.stringify(name.slice(0, 10))}, and the answer names the rule`, async () => {
      const entity = aTeam()
      const refused = await service.in(`${entity}/${name}`).calls.start({ id: 'c' })
      assert.equal(refused.status, 422)
      assert.match(refused.text, RULE)
      const inPath = await service.send('GET', `/v2/${entity}/${encodeURIComponent(name)}/ops`)
      assert.equal(inPath.status, 422)
      assert.match(inPath.text, RULE)
      const { errors } = await ask(service, UPSERT, { input: { name, entityName: entity } })
      assert.match(errors![0]!.message, RULE)
    })

  it('is read from the header of a completion as UTF-8, Latin-1 or percent-encoded', async () => {
    const entity = aTeam()
    await service.teams.create(entity).json()
    const key = await service.teams.keyOf(entity, `user-of-${entity}`, 'member')
    const utf8 = (text: string) => Buffer.from(text, 'utf8').toString('latin1')
    const body = { model: 'no-such-model', messages: [{ role: 'user', content: 'Hi' }] }
    const send = (project: string) =>
      service.post('/v1/chat/completions', body, { key, headers: { 'openai-project': project } })
    for (const name of [
      'my project',
      'R&D',
      'naïve+é',
      utf8('проект'),
      utf8('naïve+é'),
      encodeURIComponent('проект é'),
    ])
      assert.equal((await send(`${entity}/${name}`)).status, 404, name)
    const refused = await send(`${entity}/a:b`)
    assert.equal(refused.status, 401)
    assert.match(refused.text, RULE)
  })

  it('may have any letters in the scopes of limits and automations', async () => {
    const { team, postWebhook, postAutomation, send } = await givenTeam(service)
    await postWebhook(aWebhook())
    const limits = (project: string) =>
      send('PUT', `/api/teams/${team}/limits`, { scope: { type: 'project', project }, concurrency: 5 })
    const automation = (project: string) =>
      postAutomation(anAutomation(team, { name: randomUUID(), scope: { type: 'project', project } }))
    for (const name of NAMES)
      for (const answer of [await limits(name), await automation(name)])
        assert.equal(answer.status, 200, answer.text)
    for (const name of REFUSED)
      for (const refused of [await limits(name), await automation(name)]) {
        assert.equal(refused.status, 422, refused.text)
        if (name.length <= 128) assert.match(refused.text, RULE)
      }
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, writesNothing } from '../calls/given.js'
import { clientOf } from '../wandb/given.js'
import { ask, dataOf, memberOf } from './given.js'

const ALL = 'id internalId name entityName entity { id name } description repo dockerImage createdAt'
const READ = `query ($name: String, $entityName: String) { project(name: $name, entityName: $entityName) { ${ALL} } }`
const UPSERT = `mutation ($input: UpsertModelInput!) { upsertModel(input: $input) {
  inserted clientMutationId model { ${ALL} } project { ${ALL} }
} }`

const NO_PROJECT = 'Project not found, or the API key has no access to its team.'

describe('a project asked for in GraphQL', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const read = (variables: JsonObject, options = {}) => ask(service, READ, variables, options)
  const upsert = (input: JsonObject, options = {}) => ask(service, UPSERT, { input }, options)

  it('exists within a team of the key, written to or not', async () => {
    const { teams, options } = await memberOf(service, 'team')
    const entityName = teams[0]!
    const shown = {
      id: `${entityName}/new`,
      internalId: `${entityName}/new`,
      name: 'new',
      entityName,
      entity: { id: entityName, name: entityName },
      description: null,
      repo: null,
      dockerImage: null,
      createdAt: null,
    }
    await writesNothing(service, async () => {
      assert.deepEqual(dataOf(await read({ name: 'new', entityName }, options)), { project: shown })
      assert.deepEqual(dataOf(await read({ name: 'new' }, options)), { project: shown })
      const model = await ask(service, READ.replace('{ project(', '{ model('), { name: 'new' }, options)
      assert.deepEqual(dataOf(model), { model: shown })
    })
  })

  it('is listed with the others of its entity', async () => {
    const [mine, other] = [await memberOf(service, 'mine'), await memberOf(service, 'other')]
    const team = mine.teams[0]!
    for (const project of ['b', 'c']) await clientOf(service, `${team}/${project}`).init('run')
    await clientOf(service, `${team}/a`).upload('ds', { a: '1' })
    await service.in(`${team}/d`).calls.start().json()
    accepted(await service.post('/api/registries', { name: 'models', team }))
    const LIST = `query ($e: String, $after: String) { models(entityName: $e, first: 3, after: $after) {
      edges { node { name createdAt } } pageInfo { hasNextPage endCursor } } }`
    const page = async (e: string | null, after: string | null, options: object) => {
      const { models } = dataOf(await ask(service, LIST, { e, after }, options))
      return (
        models && [
          models.edges.map(
            (edge: { node: { name: string; createdAt: string } }) =>
              edge.node.createdAt < new Date().toISOString() && edge.node.name,
          ),
          models.pageInfo,
        ]
      )
    }
    const pageInfo = { hasNextPage: true, endCursor: `${team}/c` }
    assert.deepEqual(await page(team, null, mine.options), [['a', 'b', 'c'], pageInfo])
    assert.deepEqual(await page(null, null, mine.options), [['a', 'b', 'c'], pageInfo])
    assert.deepEqual(await page(team, pageInfo.endCursor, mine.options), [
      ['d'],
      { hasNextPage: false, endCursor: `${team}/d` },
    ])
    assert.equal(await page(team, null, other.options), null)
    assert.equal(await page('none', null, other.options), null)
  })

  it('is made by upsertModel once, and then is what it was', async () => {
    const { teams, options } = await memberOf(service, 'team')
    const input = { name: 'p', entityName: teams[0]!, description: 'For é.', clientMutationId: 'm' }
    const { upsertModel: first } = dataOf(await upsert(input, options))
    assert.deepEqual([first.inserted, first.clientMutationId], [true, 'm'])
    assert.match(first.model.createdAt, /^\d{4}-\d\d-\d\dT.*Z$/)
    assert.deepEqual([first.model.description, first.project], ['For é.', first.model])
    await writesNothing(service, async () => {
      for (const again of [input, { ...input, description: null }, { ...input, id: first.model.id }]) {
        const { upsertModel } = dataOf(await upsert(again, options))
        assert.deepEqual([upsertModel.inserted, upsertModel.model], [false, first.model])
      }
    })
    assert.deepEqual(dataOf(await read({ name: 'p' }, options)).project, first.model)
  })

  it('may be asked for by many at once, one of whom made it', async () => {
    const [entityName, name] = someProject().split('/') as [string, string]
    const told = await Promise.all(Array.from({ length: 8 }, () => upsert({ name, entityName })))
    assert.equal(told.filter((one) => dataOf(one).upsertModel.inserted).length, 1)
    const events = await eventsOf(service, `project-${entityName}/${name}`)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ProjectCreated'],
    )
  })

  it('keeps how it reports usage, and calls can be read with the position of its making', async () => {
    const project = someProject()
    const [entityName, name] = project.split('/') as [string, string]
    accepted(await service.send('PUT', `/api/projects/${project}`, { usage_reporting: 'own' }))
    const answer = await service.post('/graphql', {
      query: UPSERT,
      variables: { input: { name, entityName, description: 'd' } },
    })
    const position = answer.headers.get('tallytree-position')
    assert.match(position ?? '', /^\d+$/)
    await service.in(project).calls.start().json()
    const headers = { 'Tallytree-Min-Position': position! }
    assert.equal((await service.in(project).with({ headers }).calls.count().json()).count, 1)
    await writesNothing(service, async () =>
      accepted(await service.send('PUT', `/api/projects/${project}`, { usage_reporting: 'own' })),
    )
  })

  it('of others is as if it were not there, to read and to make', async () => {
    const [mine, other] = [await memberOf(service, 'mine'), await memberOf(service, 'other')]
    const name = 'secret'
    dataOf(await upsert({ name, entityName: other.teams[0]!, description: 'CANARY' }, other.options))
    await writesNothing(service, async () => {
      for (const entityName of [other.teams[0]!, `none-${randomUUID()}`, 'default']) {
        assert.deepEqual(await read({ name, entityName }, mine.options), { data: { project: null } })
        const made = await upsert({ name, entityName, description: 'x', id: 'y' }, mine.options)
        assert.deepEqual([made.data, made.errors?.[0]?.message], [{ upsertModel: null }, NO_PROJECT])
      }
    })
  })

  it('of an administrator brings its team into being when it is made, not when it is read', async () => {
    const [entityName, name] = someProject().split('/') as [string, string]
    const path = `/api/teams?after=${entityName.slice(0, -1)}`
    const isListed = async () => (await service.send('GET', path)).text.includes(entityName)
    dataOf(await read({ name, entityName }))
    assert.ok(!(await isListed()))
    dataOf(await upsert({ name, entityName }))
    assert.ok(await isListed())
  })

  const odd: readonly (readonly [JsonObject, RegExp])[] = [
    [{ name: 'a/b' }, /a project name has 1 to 128 characters/],
    [{ name: 'a\u0000' }, /a project name has 1 to 128 characters/],
    [{ name: '\ud800' }, /a project name has 1 to 128 characters/],
    [{ name: 'x'.repeat(129) }, /a project name has 1 to 128 characters/],
    [{ name: 'p', entityName: '../etc' }, /entityName should have 1 to 128 letters/],
    [{ name: '' }, /name is required/],
    [{ name: 'p', description: 'x'.repeat(10_001) }, /input\.description should have at most 10000/],
    [{ name: 'p', repo: 'x'.repeat(10_001) }, /input\.repo should have at most 10000/],
    [{ name: 'p', id: 'other/p' }, /input\.id should be/],
    [{ name: 7 }, /"\$input" got invalid value 7 at "input\.name"/],
    [{ name: ['p'] }, /at "input\.name"/],
    [{ name: null }, /name is required/],
    [{}, /name is required/],
    [{ name: 'p', colour: 'x' }, /Field "colour" is not defined/],
    [{ name: 'p', __proto__: null, constructor: 'x' }, /Field "constructor" is not defined/],
  ]
  for (const [input, message] of odd)
    it(`is told what is wrong with ${JSON.stringify(input).slice(0, 50)}`, async () => {
      await writesNothing(service, async () => {
        const { data, errors } = await upsert(input)
        assert.match(errors![0]!.message, message)
        assert.deepEqual(data ?? { upsertModel: null }, { upsertModel: null })
      })
    })
})

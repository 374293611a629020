import assert from 'node:assert/strict'
import { registryStream } from '../../src/domain/artifacts/events.js'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { limitsStream } from '../../src/domain/gateway/limits/limits.js'
import type { Answered } from '../support/client.js'
import type { TestService } from '../support/service.js'
import { sharedService } from './shared-service.js'
import { eventsOf } from './calls/given.js'

const MANY = 40

describe('many who write to one thing at once', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
    await service.teams.create('crowd')
  })

  const atOnce = (ask: (n: number) => Promise<Answered>) =>
    Promise.all(Array.from({ length: MANY }, (_, n) => ask(n)))
  const allTaken = (answers: readonly Answered[]) => {
    for (const { status, text } of answers) assert.equal(status, 200, text)
  }
  const oneTaken = (answers: readonly Answered[]) =>
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(MANY - 1).fill(409)])
  const toldOf = async (stream: string, type: string): Promise<readonly JsonObject[]> =>
    (await eventsOf(service, stream)).filter((event) => event.type === type).map(({ data }) => data)

  it('each have their registry', async () => {
    allTaken(await atOnce((n) => service.post('/api/registries', { name: `of-${n}`, team: 'crowd' })))
    assert.equal((await toldOf(registryStream('crowd'), 'RegistryCreated')).length, MANY)
  })

  it('choose limits of which the last in the log holds', async () => {
    const scope = { type: 'team' }
    allTaken(
      await atOnce((n) => service.send('PUT', '/api/teams/crowd/limits', { scope, concurrency: n + 1 })),
    )
    const { data } = (await service.send('GET', '/api/teams/crowd/limits')).json<{ data: JsonObject[] }>()
    assert.deepEqual(
      data.map(({ concurrency }) => concurrency),
      [(await toldOf(limitsStream('crowd'), 'LimitChosen')).at(-1)?.['concurrency']],
    )
  })

  it('make versions of an object that are numbered without a gap', async () => {
    const val = (n: number) => ({ n: n >> 1 })
    const obj = { project_id: 'crowd/p', object_id: 'thing' }
    allTaken(await atOnce((n) => service.post('/obj/create', { obj: { ...obj, val: val(n) } })))
    const versions = await toldOf('object-crowd/p/thing', 'ObjectPublished')
    assert.deepEqual(
      versions.map(({ version_index }) => version_index),
      Array.from({ length: MANY / 2 }, (_, index) => index),
    )
  })

  it('name a call, and price models', async () => {
    const project_id = 'crowd/p'
    const call = { project_id, call_id: 'named' }
    allTaken(await atOnce((n) => service.post('/call/update', { ...call, display_name: `name ${n}` })))
    const price = { prompt_token_cost: 1, completion_token_cost: 1 }
    allTaken(await atOnce((n) => service.in(project_id).costs.create({ costs: { [`m-${n}`]: price } })))
  })

  it('contradict each other about a call: one stands, the others are told so', async () => {
    const project = 'crowd/p'
    const { calls } = service.in(project)
    oneTaken(await atOnce((n) => calls.start({ id: 'one', op_name: `op-${n}` })))
    oneTaken(await atOnce((n) => calls.end('one', { output: n })))
  })
})

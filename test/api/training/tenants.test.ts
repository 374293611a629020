import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { memberOf } from '../graphql/given.js'
import { sharedService } from '../shared-service.js'
import { OF_TRAINING, trainingClientOf } from './given.js'

const BODIES: Readonly<Record<string, object>> = {
  'DELETE /v1/preview/models/{model_id}/checkpoints': { steps: [1] },
  'POST /v1/preview/models/{model_id}/log': { split: 'val', trajectory_groups: [] },
  'POST /v1/preview/training-jobs/{job_id}/heartbeat': { lease_id: 'x' },
  'POST /v1/preview/training-jobs/{job_id}/reports': { lease_id: 'x', first: 0, reports: [] },
  'POST /v1/preview/training-jobs/{job_id}/files': {
    lease_id: 'x',
    files: [{ path: 'a', md5: '0'.repeat(32) }],
  },
  'POST /v1/preview/training-jobs/{job_id}/complete': {
    lease_id: 'x',
    files: [{ path: 'a', md5: '0'.repeat(32) }],
  },
  'POST /v1/preview/training-jobs/{job_id}/fail': { lease_id: 'x', error_message: 'x' },
}

describe('models and training jobs', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  it('of another team cannot be told from what is not there', async () => {
    const [mine, other] = [await memberOf(service, 'mine'), await memberOf(service, 'other')]
    const theirs = trainingClientOf(service, `${other.teams[0]}/p`, other.options)
    const model = (await theirs.createModel('secret'))['id'] as string
    const job = await theirs.createRl(model, [])
    await theirs.ended(job)
    const name = `wandb-artifact:///${other.teams[0]}/p/secret`
    const absent = name.replace('secret', 'none')
    const told = async (method: string, path: string, body?: object) => {
      const { status, text } = await service.send(method, path, body, mine.options)
      return { status, text: text.replaceAll(absent, name) }
    }
    for (const endpoint of OF_TRAINING) {
      const [method = '', path = ''] = endpoint.split(' ')
      if (!path.includes('{')) continue
      const at = (id: string) => path.replace(/\{\w+\}/, id)
      const body = BODIES[endpoint]
      const there = await told(method, at(path.includes('{model_id}') ? model : job), body)
      assert.equal(there.status, 404, endpoint)
      assert.deepEqual(there, await told(method, at(randomUUID()), body), endpoint)
    }
    const createRl = (model_id: string) =>
      told('POST', '/v1/preview/training-jobs', { model_id, trajectory_groups: [] })
    assert.deepEqual(await createRl(model), await createRl(randomUUID()))
    const own = (await trainingClientOf(service, `${mine.teams[0]}/p`, mine.options).createModel('own'))['id']
    const createSft = (url: string) =>
      told('POST', '/v1/preview/sft-training-jobs', { model_id: own, training_data_url: `${url}:v0` })
    assert.equal((await createSft(name)).status, 404)
    assert.deepEqual(await createSft(name), await createSft(absent))
    const chat = (as: string) =>
      told('POST', '/v1/chat/completions', { model: as, messages: [{ role: 'user', content: 'x' }] })
    assert.equal((await chat(name)).status, 404)
    assert.deepEqual(await chat(name), await chat(absent))
    const create = { entity: other.teams[0], project: 'p', name: 'new', base_model: 'tiny/byte' }
    assert.equal((await told('POST', '/v1/preview/models', create)).status, 404)
    const listed = accepted(await service.send('GET', '/v1/models', undefined, mine.options))
    assert.ok(!JSON.stringify(listed).includes(other.teams[0]!))
  })

  it('are not given to workers of other teams', async () => {
    const [mine, other] = [await memberOf(service, 'mine'), await memberOf(service, 'other')]
    const base = `base-${randomUUID()}`
    const claim = async (options: object) =>
      accepted(
        await service.post('/v1/preview/workers/claim', { worker: 'gpu', base_models: [base] }, options),
      )['job']
    assert.equal(await claim(other.options), null)
    const refused = await service.post(
      '/v1/preview/models',
      { entity: mine.teams[0], project: 'p', name: 'm', base_model: base },
      mine.options,
    )
    assert.equal(refused.status, 422)
    const theirs = trainingClientOf(service, `${other.teams[0]}/p`, other.options)
    const model = (await theirs.createModel('m', base))['id'] as string
    await theirs.createRl(model, [])
    assert.equal(await claim(mine.options), null)
    assert.notEqual(await claim(other.options), null)
  })
})

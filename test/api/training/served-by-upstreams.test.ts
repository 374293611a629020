import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { accepted } from '../calls/given.js'
import { trainingClientOf } from './given.js'
import { workerOf } from './worker.js'

describe('a model of a worker', () => {
  let service: TestService
  let gateway: Gateway
  const base = `base-${randomUUID()}`
  before(async () => {
    service = await sharedService()
    const models = [
      {
        id: base,
        upstream_id: 'at-upstream',
        checkpoint_id: '${entity}/${project}/${model}:${step}',
        concurrency: 1,
      },
    ]
    gateway = await startGateway(service, { id: base, upstream: { models } })
  })
  after(async () => {
    await gateway.upstream.close()
  })

  const given = async (baseModel = base) => {
    const team = `team-${randomUUID().slice(0, 8)}`
    const client = trainingClientOf(service, `${team}/p`)
    const worker = workerOf(service, baseModel)
    await worker.claim()
    const model = (await client.createModel('agent', baseModel))['id'] as string
    const train = async () => {
      await client.createRl(model, [])
      const held = worker.of((await worker.claim())!)
      accepted(await held.complete(await held.upload({ adapter: randomUUID() })))
    }
    const name = `wandb-artifact:///${team}/p/agent`
    const ask = (version: string) => gateway.complete({ model: name + version })
    const atUpstream = () => gateway.upstream.arrivals.at(-1)?.body['model']
    return { team, name, train, ask, atUpstream, model }
  }

  it('is answered by the upstream of its base model, under the name of its checkpoint there', async () => {
    const { team, name, train, ask, atUpstream, model } = await given()
    assert.equal((await ask('')).json<{ readonly model: string }>().model, name)
    assert.equal(atUpstream(), 'at-upstream')
    assert.equal((await ask(':step1')).status, 404)
    await train()
    await train()
    for (const [version, step] of [
      ['', 2],
      [':latest', 2],
      [':step1', 1],
    ] as const) {
      const answer = await ask(version)
      assert.equal(answer.json<{ readonly model: string }>().model, name + version)
      assert.equal(atUpstream(), `${team}/p/agent:${step}`)
    }
    const [call] = await gateway.ended(`${team}/p`)
    const { attributes } = call as unknown as { readonly attributes: { readonly tallytree: JsonObject } }
    assert.equal(attributes.tallytree['model'], name)
    accepted(await service.send('DELETE', `/v1/preview/models/${model}/checkpoints`, { steps: [1] }))
    assert.equal((await ask(':step1')).status, 404)
  })

  it('is listed where an upstream serves it', async () => {
    const listed = async () =>
      (accepted(await service.send('GET', '/v1/models'))['data'] as readonly { readonly id: string }[]).map(
        ({ id }) => id,
      )
    const [served, other] = [await given(), await given(`base-${randomUUID()}`)]
    const ids = await listed()
    assert.deepEqual([ids.includes(served.name), ids.includes(other.name)], [true, false])
    assert.equal((await other.ask('')).status, 404)
  })
})

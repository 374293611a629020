import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { clientOf } from '../wandb/given.js'
import { trainingClientOf } from './given.js'

const PROMPT = [256, 258, 104, 263, 259]

const choice = (prompt_token_ids: readonly number[] = PROMPT, token_ids: readonly number[] = [65]) => ({
  finish_reason: 'stop',
  index: 0,
  message: { role: 'assistant', content: 'x' },
  logprobs: { content: token_ids.map((token) => ({ token: `token_id:${token}`, logprob: -5 })) },
  token_ids,
  prompt_token_ids,
})

const attempt = (reward: number, one: object = choice()) => ({ messages_and_choices: [one], reward })
const LONG = choice(Array<number>(600).fill(65))
const EMPTY = choice(PROMPT, [])

describe('a job of reinforcement learning', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  /** A model with a checkpoint, and what becomes of a job of it. */
  const given = async () => {
    const project = someProject()
    const client = trainingClientOf(service, project)
    const model = (await client.createModel('agent'))['id'] as string
    await client.ended(await client.createRl(model, [{ trajectories: [attempt(1), attempt(0)] }]))
    const aliases = async () =>
      accepted(await service.send('GET', `/api/artifacts/${project}/agent/versions/latest`))['aliases']
    const failed = async (groups: readonly object[], config: object = {}) => {
      const events = await client.ended(await client.createRl(model, groups, config))
      assert.equal(events.at(-1)!.type, 'training_failed', JSON.stringify(events))
      assert.deepEqual(await aliases(), ['latest', 'step1'])
      assert.deepEqual(await client.steps(model), [1])
      return { events, message: JSON.stringify(events.at(-1)!.data) }
    }
    return { client, project, model, failed }
  }

  it('fails and moves no alias when its learning rate breaks the model', async () => {
    const { client, project, failed } = await given()
    const groups = [{ trajectories: [attempt(1), attempt(0)] }]
    for (const learning_rate of [1e30, 1e20, 1e38, 1e300]) {
      const { message } = await failed(groups, { learning_rate })
      assert.match(message, /not finite. Use a lower learning rate/)
    }
    await client.chat(`wandb-artifact:///${project}/agent`)
  })

  it('fails with the numbers left out when all its signal is longer than the context or without tokens', async () => {
    const { failed } = await given()
    const { message, events } = await failed([{ trajectories: [attempt(1, LONG), attempt(0, LONG)] }])
    assert.match(
      message,
      /Nothing was trained. Of 2 .*, 2 are longer than the context of 512 tokens, and 0 have no/,
    )
    assert.equal(events.length, 1)
    const mixed = await failed([
      { trajectories: [attempt(1, LONG), attempt(0, EMPTY)] },
      { trajectories: [attempt(1), attempt(1)] },
    ])
    assert.match(mixed.message, /Of 2 .*, 1 are longer than the context of 512 tokens, and 1 have no sampled/)
  })

  it('counts what it left out beside what it trained', async () => {
    const { client, model } = await given()
    const job = await client.createRl(model, [
      { trajectories: [attempt(1, LONG), attempt(0), attempt(3, EMPTY)] },
    ])
    const [started, step, ended] = await client.ended(job)
    assert.deepEqual([started!.data, ended!.type], [{ num_sequences: 1 }, 'training_ended'])
    assert.deepEqual([step!.data['num_trajectories'], step!.data['num_dropped_trajectories']], [1, 2])
  })

  it('of equal rewards makes no gradient step, and its checkpoint is the one before', async () => {
    const { client, model } = await given()
    const job = await client.createRl(model, [
      { trajectories: [attempt(1), attempt(1)] },
      { trajectories: [] },
    ])
    const [started, ended] = await client.ended(job)
    assert.deepEqual([started!.data, ended!.type], [{ num_sequences: 0 }, 'training_ended'])
    const { data } = await client.get(`/models/${model}/checkpoints`)
    assert.deepEqual((data as { metrics: object }[])[1]!.metrics, {
      num_groups_submitted: 2,
      num_groups_trainable: 0,
    })
  })
})

describe('a model whose checkpoint is no checkpoint', () => {
  it('is a fault of the service, which says what it knows', async () => {
    const service = await sharedService()
    const project = someProject()
    await clientOf(service, project).upload('fork', { 'checkpoint.bin': 'garbage' })
    const { status, text } = await service.post('/v1/chat/completions', {
      model: `wandb-artifact:///${project}/fork:v0`,
      messages: [{ role: 'user', content: 'x' }],
    })
    assert.equal(status, 502)
    assert.match(text, /The file is not a checkpoint of this engine/)
  })
})

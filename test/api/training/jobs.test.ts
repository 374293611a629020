import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { startTestService, type TestService } from '../../support/service.js'
import { trainingClientOf } from './given.js'

const someProject = () => `team-${randomUUID().slice(0, 8)}/p`

interface Completion {
  readonly choices: readonly {
    readonly message: { readonly role: string; readonly content: string }
    readonly token_ids: readonly number[]
    readonly prompt_token_ids: readonly number[]
    readonly logprobs: { readonly content: readonly { readonly token: string; readonly logprob: number }[] }
    readonly finish_reason: string
  }[]
  readonly prompt_token_ids: readonly number[]
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number }
}

describe('the training API', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  it('trains a model on trajectories, and answers with the checkpoint', async () => {
    const project = someProject()
    const client = trainingClientOf(service, project)
    const model = await client.createModel('agent')
    assert.deepEqual(await client.createModel('agent'), model)
    const id = model['id'] as string
    assert.deepEqual(await client.steps(id), [])
    const name = `wandb-artifact:///${project}/agent`

    const rollout = async () => {
      const answer = (await client.chat(name, { return_tokens_as_token_ids: true })).json<Completion>()
      const [choice] = answer.choices
      assert.equal(answer.usage.completion_tokens, choice!.token_ids.length)
      assert.deepEqual(
        choice!.logprobs.content.map(({ token }) => token),
        choice!.token_ids.map((token) => `token_id:${token}`),
      )
      const reward = choice!.message.content.replace(/[^aeiou]/g, '').length
      return {
        messages_and_choices: [{ role: 'user', content: 'hello' }, choice],
        reward: Math.random() + reward,
      }
    }
    const groups = [{ trajectories: await Promise.all([1, 2, 3, 4].map(rollout)) }]
    const job = await client.createRl(id, groups, { learning_rate: 1e-2 })
    const events = await client.ended(job)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['training_started', 'gradient_step', 'training_ended'],
      JSON.stringify(events),
    )
    assert.deepEqual(await client.steps(id), [1])
    const trained = (await client.chat(`${name}:step1`)).json<Completion>()
    assert.ok(trained.choices[0]!.token_ids.length > 0)
    assert.equal(
      (
        await service.post('/v1/chat/completions', {
          model: `${name}:step2`,
          messages: [{ role: 'user', content: 'x' }],
        })
      ).status,
      404,
    )
    const done = await client.get(`/training-jobs/${job}`)
    assert.deepEqual([done['state'], done['step']], ['succeeded', 1])
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted } from '../calls/given.js'
import { ask, dataOf } from '../graphql/given.js'
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
  before(async () => (service = await sharedService()))

  /** Four attempts with different rewards. */
  const groupsOf = async (client: ReturnType<typeof trainingClientOf>, name: string) => {
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
    return [{ trajectories: await Promise.all([1, 2, 3, 4].map(rollout)) }]
  }

  it('trains a model on trajectories, and answers with the checkpoint', async () => {
    const project = someProject()
    const client = trainingClientOf(service, project)
    const model = await client.createModel('agent')
    assert.deepEqual(await client.createModel('agent'), model)
    const id = model['id'] as string
    assert.deepEqual(await client.steps(id), [])
    const name = `wandb-artifact:///${project}/agent`

    const groups = await groupsOf(client, name)
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

  it('fails a job whose checkpoint was deleted as an artifact, and chats with the newest that is listed', async () => {
    const project = someProject()
    const client = trainingClientOf(service, project)
    const id = (await client.createModel('agent'))['id'] as string
    const name = `wandb-artifact:///${project}/agent`
    for (let n = 0; n < 2; n += 1)
      await client.ended(await client.createRl(id, await groupsOf(client, name), { learning_rate: 1e-2 }))
    const deletion =
      'mutation ($id: ID!) { deleteArtifact(input: { artifactID: $id, deleteAliases: true }) { artifact { id } } }'
    const [entityName, projectName] = project.split('/') as [string, string]
    const named =
      'query ($e: String, $p: String) { project(entityName: $e, name: $p) { artifact(name: "agent:step2") { id } } }'
    const found = await ask(service, named, { e: entityName, p: projectName }, {})
    dataOf(await ask(service, deletion, { id: dataOf(found).project.artifact.id }, {}))
    const events = await client.ended(await client.createRl(id, []))
    assert.match(JSON.stringify(events[0]!.data), /step 2 was deleted as an artifact/)
    await client.chat(`${name}:step1`)
    accepted(await service.send('DELETE', `/v1/preview/models/${id}/checkpoints`, { steps: [2] }))
    await client.chat(name)
    const ended = await client.ended(await client.createRl(id, []))
    assert.equal(ended.at(-1)?.type, 'training_ended')
    assert.deepEqual(await client.steps(id), [1, 3])
  })

  it('tells clients that follow a job of a deleted model how it ended', async () => {
    const client = trainingClientOf(service, someProject())
    const model = (await client.createModel('agent'))['id'] as string
    const queued = await client.createRl(model, [])
    const done = await client.createRl(model, [])
    await client.ended(queued)
    const [first] = await client.ended(done)
    const behind = await client.createRl(model, await groupsOf(client, 'tiny/byte'))
    accepted(await service.send('DELETE', `/v1/preview/models/${model}`))
    const ends = await Promise.all([queued, done, behind].map((job) => client.ended(job)))
    for (const events of ends) assert.match(events.at(-1)!.type, /^training_(ended|failed)$/)
    const [forged] = ends[0]!
    const at = `/v1/preview/training-jobs/${done}/events`
    assert.equal((await service.send('GET', `${at}?after=${first!.id}`)).status, 200)
    assert.equal((await service.send('GET', `${at}?after=${forged!.id}`)).status, 404)
    assert.equal((await client.get(`/training-jobs/${done}`))['state'], 'succeeded')
  })

  it('names what is wrong with a job', async () => {
    const project = someProject()
    const client = trainingClientOf(service, project)
    const model_id = (await client.createModel('agent'))['id'] as string
    const refused = async (body: object) => {
      const { status, text } = await client.post('/training-jobs', {
        model_id,
        trajectory_groups: [],
        ...body,
      })
      assert.equal(status, 422, text)
      return text
    }
    assert.match(
      await refused({ experimental_config: { kl_penalty_coef: 0.1 } }),
      /has no option kl_penalty_coef/,
    )
    assert.match(
      await refused({ experimental_config: { learning_rate: 'x' } }),
      /experimental_config.*learning_rate/,
    )
    assert.match(
      await refused({ trajectory_groups: [{ trajectories: [{ reward: 'x' }] }] }),
      /trajectories.*reward/,
    )
    const untrainable = [
      { trajectories: [{ messages_and_choices: [{ role: 'user', content: 'x' }], reward: 1 }] },
    ]
    const [failed] = await client.ended(await client.createRl(model_id, untrainable))
    assert.match(JSON.stringify(failed!.data), /No answer in the trajectories has log probabilities/)
    const broken = [
      {
        trajectories: [
          { messages_and_choices: [{ finish_reason: 'stop', message: {}, logprobs: { content: [] } }] },
        ],
      },
    ]
    const [second] = await client.ended(await client.createRl(model_id, broken))
    assert.match(JSON.stringify(second!.data), /trajectory_groups.0.trajectories.0: a choice has no/)
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { clientOf } from '../wandb/given.js'
import { trainingClientOf } from './given.js'

const user = (content: string) => ({ role: 'user', content })
const assistant = (content: unknown, more: object = {}) => ({ role: 'assistant', content, ...more })
const line = (...messages: readonly object[]) => JSON.stringify({ messages })
const LONG = line(user('x'.repeat(600)), assistant('y'))

describe('the conversations of a fine-tuning job', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const given = async (base?: string) => {
    const project = someProject()
    const client = trainingClientOf(service, project)
    const model_id = (await client.createModel('agent', base))['id'] as string
    const create = async (lines: readonly string[], config: object = {}) => {
      const name = `data-${randomUUID()}`
      await clientOf(service, project).upload(name, { 'train.jsonl': lines.join('\n') })
      const training_data_url = `wandb-artifact:///${project}/${name}:v0`
      return client.post('/sft-training-jobs', { model_id, training_data_url, config })
    }
    const ended = async (lines: readonly string[], config: object = {}) =>
      client.ended(accepted(await create(lines, config))['id'] as string)
    return { client, project, model_id, create, ended }
  }

  it('fail the job with the numbers left out when none of them can be trained on', async () => {
    const { client, model_id, ended } = await given()
    for (const [lines, says] of [
      [[LONG, LONG], /Of 2 conversations, 2 are longer than the context of 512 tokens, and 0 have no answer/],
      [
        [line(user('a'), assistant('')), line(user('a'), assistant(null))],
        /0 are longer .* and 2 have no answer/,
      ],
      [[line(user('a'), assistant([])), LONG], /1 are longer .* and 1 have no answer/],
      [[line(user('a'), assistant('b', { weight: 0 }))], /0 are longer .* and 1 have no answer/],
    ] as const) {
      const events = await ended(lines)
      assert.deepEqual(
        events.map(({ type }) => type),
        ['training_failed'],
      )
      assert.match(JSON.stringify(events[0]!.data), says)
    }
    assert.deepEqual(await client.steps(model_id), [])
  })

  it('are trained on where the weight of an answer is not 0', async () => {
    const { ended } = await given()
    const trainable = async (lines: readonly string[], config: object = {}) => {
      const [, step] = await ended(lines, { batch_size: 100, ...config })
      return [step!.data['num_trainable_tokens'], step!.data['num_dropped_trajectories']]
    }
    const turns = (first: object, second: object) =>
      line(user('a'), assistant('one', first), user('b'), assistant('three', second))
    // The end of a message is a token.
    assert.deepEqual(await trainable([turns({}, {})]), [10, 0])
    assert.deepEqual(await trainable([turns({ weight: 0 }, {})]), [6, 0])
    assert.deepEqual(await trainable([turns({ weight: 1 }, { weight: 0 })]), [4, 0])
    assert.deepEqual(
      await trainable([turns({ weight: null }, { weight: 1 })], { assistant_turns: 'last' }),
      [6, 0],
    )
    const mixed = [
      turns({}, {}),
      LONG,
      line(user('a'), assistant('')),
      line(user('a'), assistant('b', { weight: 0 })),
    ]
    assert.deepEqual(await trainable(mixed), [10, 3])
  })

  it('are refused by the number of their line and the place of the message', async () => {
    const { create } = await given()
    const refused = async (lines: readonly string[]) => {
      const { status, text } = await create(lines)
      assert.equal(status, 422, text)
      return text
    }
    const good = line(user('a'), assistant('b'))
    assert.match(await refused([good, '', ' \t', 'nope']), /line 4 is not JSON/)
    assert.match(await refused(['', '\r', good, '', '{}', 'x']), /line 5 has no list.*line 6 is not JSON/)
    for (const weight of [2, -1, 0.5, '1', true])
      assert.match(
        await refused([good, line(user('a'), assistant('b', { weight }))]),
        /line 2 messages.1: its `weight` should be 0 or 1/,
      )
    assert.match(
      await refused([line({ ...user('a'), weight: 1 }, assistant('b'))]),
      /line 1 messages.0: its `weight` is 1, but only/,
    )
    assert.match(
      await refused([line({ role: 'banana', content: 'a' }, assistant('b'))]),
      /line 1 messages.0: the role .*banana.* is none of/,
    )
    assert.match(await refused([line({ content: 'a' }, assistant('b'))]), /line 1 messages.0: it has no text/)
  })

  it('may have 2,048 tokens with tiny/byte-2k', async () => {
    const { client, project, ended } = await given('tiny/byte-2k')
    const question = user('x'.repeat(1500))
    const [, step, end] = await ended([line(question, assistant('y'))])
    assert.deepEqual([step!.data['num_dropped_trajectories'], end!.type], [0, 'training_ended'])
    await client.chat(`wandb-artifact:///${project}/agent`, { messages: [question] })
    const ask = (model: string, length: number) =>
      service.post('/v1/chat/completions', { model, messages: [user('x'.repeat(length))], max_tokens: 1 })
    assert.equal((await ask('tiny/byte', 1500)).status, 400)
    assert.match((await ask('tiny/byte-2k', 2050)).text, /context of tiny\/byte-2k has 2048/)
  })
})

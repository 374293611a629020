import assert from 'node:assert/strict'
import OpenAI, { toFile } from 'openai'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { memberOf } from '../graphql/given.js'

const line = (question: string, answer: string) =>
  JSON.stringify({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ],
  })
const LINES = Array.from({ length: 16 }, () => [line('ping', 'pong'), line('up', 'down')]).flat()

describe('fine-tuning with the package openai', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  const clientOf = (project: string, apiKey = ADMINISTRATOR_KEY) =>
    new OpenAI({ baseURL: `${service.address}/v1`, apiKey, project, maxRetries: 0 })
  const upload = async (client: OpenAI, lines: readonly string[]) =>
    client.files.create({
      file: await toFile(Buffer.from(lines.join('\n')), 'data.jsonl'),
      purpose: 'fine-tune',
    })

  it('trains a model that answers', async () => {
    const client = clientOf('tuning/p')
    const file = await upload(client, LINES)
    assert.equal(file.filename, 'data.jsonl')
    assert.equal(await (await client.files.content(file.id)).text(), LINES.join('\n'))
    const validation = await upload(client, LINES.slice(0, 2))
    const created = await client.fineTuning.jobs.create({
      model: 'tiny/byte',
      training_file: file.id,
      validation_file: validation.id,
      suffix: 'echo',
      method: { type: 'supervised', supervised: { hyperparameters: { n_epochs: 8, batch_size: 4 } } },
      metadata: { of: 'tests' },
    })
    assert.match(created.id, /^ftjob-/)
    await until(async () => (await client.fineTuning.jobs.retrieve(created.id)).finished_at !== null)
    const job = await client.fineTuning.jobs.retrieve(created.id)
    assert.deepEqual([job.status, job.error, job.metadata], ['succeeded', null, { of: 'tests' }])
    for (const [question, answer] of [
      ['ping', 'pong'],
      ['up', 'down'],
    ] as const) {
      const completion = await client.chat.completions.create({
        model: job.fine_tuned_model!,
        messages: [{ role: 'user', content: question }],
        temperature: 0,
        max_completion_tokens: 8,
      })
      assert.equal(completion.choices[0]!.message.content, answer)
    }
    const events = []
    for await (const event of client.fineTuning.jobs.listEvents(created.id, { limit: 20 })) events.push(event)
    assert.equal(events.length, 2 + 8 * 8)
    assert.match(events[0]!.message, /completed/)
    assert.equal(events[1]!.type, 'metrics')
    assert.ok('valid_loss' in (events[1]!.data as object))
    const [checkpoint] = (await client.fineTuning.jobs.checkpoints.list(created.id)).data
    assert.equal(checkpoint?.fine_tuned_model_checkpoint, `${job.fine_tuned_model}:step1`)
    assert.equal(checkpoint.step_number, 64)
    assert.deepEqual(
      (await client.fineTuning.jobs.list()).data.map(({ id }) => id),
      [created.id],
    )
    await client.files.delete(file.id)
    await assert.rejects(client.files.retrieve(file.id), { status: 404 })
    assert.deepEqual(
      (await client.files.list()).data.map(({ id }) => id),
      [validation.id],
    )
  })

  it('refuses by name what is not served, and names bad lines', async () => {
    const client = clientOf('tuning/refused')
    const file = await upload(client, LINES)
    const create = (more: object) =>
      client.fineTuning.jobs.create({ model: 'tiny/byte', training_file: file.id, ...more })
    await assert.rejects(create({ method: { type: 'dpo' } }), /method.type.*dpo.*not served/)
    await assert.rejects(
      create({ integrations: [{ type: 'wandb', wandb: { project: 'x' } }] }),
      /integrations/,
    )
    await assert.rejects(create({ hyperparameters: { n_epochs: 0 } }), /n_epochs/)
    await assert.rejects(create({ model: 'gpt-none' }), /No worker fine-tunes gpt-none/)
    await assert.rejects(create({ training_file: 'file-none' }), { status: 404 })
    const bad = await upload(client, [...LINES, '{"messages": 1}', 'x'])
    await assert.rejects(create({ training_file: bad.id }), /line 33 has no list.*line 34 is not JSON/)
    await assert.rejects(
      client.files.create({ file: await toFile(Buffer.from('x'), 'x'), purpose: 'assistants' }),
      /purpose/,
    )
  })

  it('keeps files and jobs in their project', async () => {
    const file = await upload(clientOf('tuning/p'), LINES)
    const job = await clientOf('tuning/p').fineTuning.jobs.create({
      model: 'tiny/byte',
      training_file: file.id,
    })
    const { teams, options } = await memberOf(service, 'stranger')
    const stranger = clientOf(`${teams[0]}/p`, options.key)
    await assert.rejects(stranger.files.retrieve(file.id), { status: 404 })
    await assert.rejects(stranger.files.content(file.id), { status: 404 })
    await assert.rejects(stranger.files.delete(file.id), { status: 404 })
    await assert.rejects(stranger.fineTuning.jobs.retrieve(job.id), { status: 404 })
    await assert.rejects(stranger.fineTuning.jobs.cancel(job.id), { status: 404 })
    await assert.rejects(stranger.fineTuning.jobs.listEvents(job.id), { status: 404 })
    await assert.rejects(stranger.fineTuning.jobs.create({ model: 'tiny/byte', training_file: file.id }), {
      status: 404,
    })
    assert.deepEqual((await stranger.files.list()).data, [])
    assert.deepEqual((await stranger.fineTuning.jobs.list()).data, [])
    await assert.rejects(clientOf('tuning/p', options.key).files.list(), { status: 401 })
  })
})

import assert from 'node:assert/strict'
import OpenAI, { toFile } from 'openai'
import { ADMINISTRATOR_KEY, type TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
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

const supervised = (hyperparameters: object) => ({
  type: 'supervised' as const,
  supervised: { hyperparameters },
})

describe('fine-tuning with the package openai', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

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
    const hyperparameters = { n_epochs: 8, batch_size: 4, learning_rate_multiplier: 1 }
    assert.deepEqual({ ...job }.hyperparameters, hyperparameters)
    assert.deepEqual(job.method, { type: 'supervised', supervised: { hyperparameters } })
    // Of each conversation: the beginning, two roles, two ends and the texts.
    assert.equal(job.trained_tokens, 8 * 16 * (2 * 5 + 8 + 6))
    const [results] = job.result_files
    const file_ = await client.files.retrieve(results!)
    const csv = await (await client.files.content(results!)).text()
    assert.deepEqual([file_.purpose, file_.bytes], ['fine-tune-results', csv.length])
    const [columns, ...steps] = csv.trimEnd().split('\n')
    assert.ok(
      columns!.startsWith('step,train_loss,train_accuracy,valid_loss,valid_mean_token_accuracy,grad_norm'),
    )
    assert.equal(steps.length, 64)
    assert.deepEqual(
      steps.map((row) => Number(row.split(',')[0])),
      steps.map((_, at) => at + 1),
    )
    assert.ok(Number(steps[63]!.split(',')[3]) > 0)
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
    for (const [field, more] of [
      ['n_epochs', { hyperparameters: { n_epochs: 0 } }],
      ['banana', { hyperparameters: { banana: 3 } }],
      ['n_epoch', { method: { type: 'supervised', supervised: { hyperparameters: { n_epoch: 3 } } } }],
      ['beta', { method: { type: 'supervised', supervised: { beta: 3 } } }],
      ['n_epochs', { hyperparameters: { n_epochs: 1 }, method: supervised({ n_epochs: 2 }) }],
      ['seed', { seed: -1 }],
      ['seed', { seed: 2 ** 31 }],
      ['seed', { seed: 1.5 }],
      ['metadata', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) }],
      ['metadata', { metadata: { ['k'.repeat(65)]: 'v' } }],
      ['k', { metadata: { k: 'v'.repeat(513) } }],
      ['k', { metadata: { k: 1 } }],
      ['banana', { banana: 1 }],
    ] as const) {
      const error: unknown = await create(more).catch((thrown: unknown) => thrown)
      assert.ok(error instanceof OpenAI.BadRequestError, JSON.stringify(more))
      assert.deepEqual([error.status, error.param], [400, field], error.message)
    }
    await assert.rejects(create({ hyperparameters: { n_epoch: 3 } }), /Did you mean n_epochs\?/)
    await assert.rejects(create({ model: 'gpt-none' }), /No worker fine-tunes gpt-none/)
    await assert.rejects(create({ training_file: 'file-none' }), { status: 404 })
    const bad = await upload(client, [...LINES, '{"messages": 1}', 'x'])
    await assert.rejects(create({ training_file: bad.id }), /line 33 has no list.*line 34 is not JSON/)
    for (const purpose of ['assistants', 'batch', 'vision', 'user_data', 'evals'] as const)
      await assert.rejects(
        client.files.create({ file: await toFile(Buffer.from('x'), 'x'), purpose }),
        (error) => error instanceof OpenAI.BadRequestError && /purpose/.test(error.message),
      )
  })

  /** Waits for the end of a job. */
  const ended = async (client: OpenAI, id: string) => {
    await until(async () => (await client.fineTuning.jobs.retrieve(id)).finished_at !== null, 60_000)
    return client.fineTuning.jobs.retrieve(id)
  }
  const namesOf = async (client: OpenAI) => (await client.models.list()).data.map(({ id }) => id)

  it('goes on from a tuned model, from its newest checkpoint or a named one', async () => {
    const client = clientOf('tuning/on')
    const file = await upload(client, LINES)
    const create = (model: string, hyperparameters: object) =>
      client.fineTuning.jobs.create({ model, training_file: file.id, method: supervised(hyperparameters) })
    const first = await ended(client, (await create('tiny/byte', { n_epochs: 8, batch_size: 4 })).id)
    const model = first.fine_tuned_model!
    for (const name of [model, `${model}:step1`]) {
      const next = await ended(client, (await create(name, { n_epochs: 1, batch_size: 16 })).id)
      assert.deepEqual([next.status, next.model], ['succeeded', name], JSON.stringify(next.error))
      assert.notEqual(next.fine_tuned_model, model)
      const events = (await client.fineTuning.jobs.listEvents(next.id)).data
      const { data } = events.at(-2)! as unknown as { data: { train_loss: number } }
      assert.ok(data.train_loss < 1, JSON.stringify(data))
    }
    for (const absent of [`${model}:step2`, `${model}x`, 'wandb-artifact:///other/p/m'])
      await assert.rejects(create(absent, {}), { status: 404 })
    const { options } = await memberOf(service, 'thief')
    await assert.rejects(
      clientOf('tuning/on', options.key).fineTuning.jobs.create({ model, training_file: file.id }),
      { status: 401 },
    )
    await assert.rejects(clientOf('thief/p', options.key).models.delete(model), { status: 404 })
    const created = (await client.models.retrieve(model)).created
    assert.ok(Math.abs(created - first.created_at) <= 1)
    assert.equal((await client.models.retrieve(model)).owned_by, 'tuning')

    const { deleted, id } = await client.models.delete(model)
    assert.deepEqual([deleted, id], [true, model])
    await assert.rejects(client.models.retrieve(model), { status: 404 })
    await assert.rejects(client.models.delete(model), { status: 404 })
    await assert.rejects(client.models.delete('tiny/byte'), { status: 400 })
    assert.equal((await client.fineTuning.jobs.retrieve(first.id)).status, 'succeeded')
  })

  it('has no model before its job has succeeded, nor after it was cancelled or failed', async () => {
    const client = clientOf('tuning/untrained')
    const file = await upload(client, LINES)
    const before = await namesOf(client)
    const long = await client.fineTuning.jobs.create({
      model: 'tiny/byte',
      training_file: file.id,
      method: supervised({ n_epochs: 1000, batch_size: 1 }),
      suffix: 'untrained',
    })
    await until(
      async () => (await client.fineTuning.jobs.retrieve(long.id)).estimated_finish !== null,
      60_000,
    )
    assert.deepEqual(await namesOf(client), before)
    const cancelled = await client.fineTuning.jobs.cancel(long.id)
    assert.deepEqual(
      [cancelled.status, cancelled.fine_tuned_model, cancelled.error, cancelled.estimated_finish],
      ['cancelled', null, null, null],
    )
    const tooLong = await upload(client, [line('x'.repeat(600), 'y')])
    const job = await client.fineTuning.jobs.create({ model: 'tiny/byte', training_file: tooLong.id })
    const failed = await ended(client, job.id)
    assert.deepEqual([failed.status, failed.result_files, failed.trained_tokens], ['failed', [], null])
    assert.match(failed.error!.message, /1 are longer than the context of 512 tokens/)
    assert.deepEqual(await namesOf(client), before)
    await assert.rejects(client.files.content(`file-${job.id.slice(6)}`), { status: 404 })
  })

  it('lists jobs by their metadata', async () => {
    const client = clientOf('tuning/metadata')
    const file = await upload(client, LINES)
    const create = async (metadata?: Record<string, string>) =>
      (
        await client.fineTuning.jobs.create({
          model: 'tiny/byte',
          training_file: file.id,
          method: supervised({ n_epochs: 1 }),
          ...(metadata === undefined ? {} : { metadata }),
        })
      ).id
    const [one, both, none] = [
      await create({ a: 'b' }),
      await create({ a: 'b', 'c d': 'e&f' }),
      await create(),
    ]
    const listed = async (query: object) =>
      (await client.fineTuning.jobs.list(query)).data.map(({ id }) => id)
    assert.deepEqual(await listed({ metadata: { a: 'b' } }), [both, one])
    assert.deepEqual(await listed({ metadata: { a: 'b', 'c d': 'e&f' } }), [both])
    assert.deepEqual(await listed({ metadata: { a: 'x' } }), [])
    assert.deepEqual(await listed({ metadata: { constructor: 'x' } }), [])
    assert.deepEqual(await listed({}), [none, both, one])
    const answer = await service.send('GET', '/v1/fine_tuning/jobs?metadata=null', undefined, {
      headers: { 'OpenAI-Project': 'tuning/metadata' },
    })
    assert.deepEqual(
      answer.json<{ data: { id: string }[] }>().data.map(({ id }) => id),
      [none],
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

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import OpenAI, { toFile } from 'openai'
import { accepted } from '../api/calls/given.js'
import { trainingClientOf } from '../api/training/given.js'
import { workerOf } from '../api/training/worker.js'
import { clientOf } from '../api/wandb/given.js'
import { run } from '../e2e/run-program.js'
import { startExampleWorker } from '../support/example-worker.js'
import { scratchDirectory } from '../support/scratch.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../support/service.js'
import { itWhen } from '../support/skipping.js'
import { until } from '../support/until.js'
import { pythonIn } from './python-sdk.js'

const BASE = 'random/tiny'
const PROJECT = 'team/p'
const EXAMPLES = fileURLToPath(new URL('../../examples/workers', import.meta.url))
const ANSWERING = fileURLToPath(new URL('answering_with_adapter.py', import.meta.url))

/** The packages have six gigabytes, so `install` leaves them out. */
const python = process.env['TRL_PYTHON'] ?? pythonIn('.venv-trl')
const hasPackages =
  existsSync(python) &&
  spawnSync(python, ['-c', 'import torch, trl, peft'], { timeout: 300_000 }).status === 0
const itRuns = itWhen(hasPackages, 'TRL_PYTHON has no torch, trl and peft')

const conversation = (...contents: readonly string[]) =>
  JSON.stringify({
    messages: contents.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  })

const lines = (line: string, count: number) => Array.from({ length: count }, () => line).join('\n')

describe('the worker that trains with TRL', function () {
  this.timeout(900_000)
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  const start = (...args: readonly string[]) =>
    startExampleWorker('trl_worker.py', {
      python,
      address: service.address,
      key: ADMINISTRATOR_KEY,
      baseModel: BASE,
      args: ['--random-tiny', ...args],
    })

  const given = async (name: string) => {
    const byHand = workerOf(service, BASE, { name: 'by hand' })
    await byHand.claim()
    const client = trainingClientOf(service, PROJECT)
    const model = (await client.createModel(name, BASE))['id'] as string
    const create = async (data: string, config: object): Promise<string> => {
      const collection = `data-${name}`
      await clientOf(service, PROJECT).upload(collection, { 'train.jsonl': data })
      const training_data_url = `wandb-artifact:///${PROJECT}/${collection}:latest`
      return accepted(
        await client.post('/sft-training-jobs', { model_id: model, training_data_url, config }),
      )['id'] as string
    }
    const train = async () => {
      const worker = start('--idle', '1')
      assert.equal(await worker.exitCode, 0, worker.output())
    }
    const lossesOf = async (job: string): Promise<readonly number[]> => {
      const events = await client.events(job)
      assert.equal(events.at(-1)?.type, 'training_ended', JSON.stringify(events.at(-1)))
      return events.flatMap(({ data }) => (typeof data['loss'] === 'number' ? [data['loss']] : []))
    }
    return { byHand, client, model, create, train, lossesOf }
  }

  itRuns('trains an adapter, and goes on from it with the next job', async () => {
    const { byHand, create, train, lossesOf } = await given('one')
    const data = lines(conversation('ping', 'pong'), 64)
    const config = { learning_rate: 1e-2, batch_size: 8, epochs: 4 }
    const jobs = [
      await create(data, config),
      await create(data, { ...config, learning_rate: 1e-4, epochs: 1, assistant_turns: 'last' }),
    ]
    await train()
    const [first, second] = await Promise.all(jobs.map(lossesOf))
    assert.deepEqual([first?.length, second?.length], [32, 8])
    assert.ok(first!.at(-1)! < 0.1 * first![0]!, JSON.stringify(first))
    for (const loss of second!) assert.ok(loss < 0.1 * first![0]!, JSON.stringify(second))

    await create(data, config)
    const { step, files } = (await byHand.claim())!.from!
    assert.equal(step, 2)
    const adapter = await scratchDirectory()
    for (const { path, url } of files) {
      const at = join(adapter, path)
      await mkdir(dirname(at), { recursive: true })
      await writeFile(at, Buffer.from(await (await fetch(url)).arrayBuffer()))
    }
    const { stdout, stderr } = await run(python, [ANSWERING, EXAMPLES, adapter, 'ping'], adapter, {})
    assert.equal(stdout.trim(), '"pong"', stderr)
  })

  itRuns('trains all answers of a conversation, and fails what it cannot train with the reason', async () => {
    const { client, model, create, train, lossesOf } = await given('two')
    const data = lines(conversation('ping', 'pong', 'up', 'down'), 16)
    const job = await create(data, { learning_rate: 1e-2, batch_size: 4, epochs: 2, assistant_turns: 'all' })
    const unable = [
      [await create(data, { batch_size: 8, learning_rate: [0.1, 0.2] }), 'one learning rate'],
      [await client.createRl(model, []), 'only trains fine-tuning'],
    ] as const
    await train()
    assert.equal((await lossesOf(job)).length, 8)
    for (const [failed, reason] of unable) {
      const { type, data } = (await client.events(failed)).at(-1)!
      assert.equal(type, 'training_failed')
      assert.match(data['error_message'] as string, new RegExp(reason))
    }
  })

  itRuns('reports the loss of validation data, for jobs of the package openai', async () => {
    const { train } = await given('three')
    const client = new OpenAI({
      baseURL: `${service.address}/v1`,
      apiKey: ADMINISTRATOR_KEY,
      project: PROJECT,
    })
    const upload = async (data: string) =>
      (await client.files.create({ file: await toFile(Buffer.from(data), 'd.jsonl'), purpose: 'fine-tune' }))
        .id
    const { id } = await client.fineTuning.jobs.create({
      model: BASE,
      training_file: await upload(lines(conversation('ping', 'pong'), 8)),
      validation_file: await upload(lines(conversation('up', 'down'), 2)),
    })
    await train()
    assert.equal((await client.fineTuning.jobs.retrieve(id)).status, 'succeeded')
    const [, last] = (await client.fineTuning.jobs.listEvents(id)).data
    const { valid_loss } = last!.data as { valid_loss: number }
    // Of a random model: the logarithm of its 263 tokens.
    assert.ok(valid_loss > 5 && valid_loss < 6, JSON.stringify(last))
  })

  itRuns('stops when its job is cancelled', async () => {
    const { client, create, model } = await given('four')
    const job = await create(lines(conversation('ping', 'pong'), 100), { batch_size: 1, epochs: 1000 })
    const worker = start('--once')
    await until(async () => (await client.events(job)).length > 3)
    accepted(await client.post(`/training-jobs/${job}/cancel`, {}))
    assert.equal(await worker.exitCode, 1)
    assert.match(worker.output(), /given up: the heartbeat was answered with cancel/)
    assert.deepEqual(await client.steps(model), [])
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { until } from '../../support/until.js'
import { accepted } from '../calls/given.js'
import { clientOf } from '../wandb/given.js'
import { trainingClientOf } from './given.js'

type Row = Readonly<Record<string, number>>

const LINES = ['ping', 'up', 'left', 'yes']
  .map((content) =>
    JSON.stringify({
      messages: [
        { role: 'user', content },
        { role: 'assistant', content },
      ],
    }),
  )
  .join('\n')

describe('a fine-tuning job with metric_logging', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const given = async () => {
    const project = `team-${randomUUID().slice(0, 8)}/p`
    const client = trainingClientOf(service, project)
    const wandb = clientOf(service, project)
    const model_id = (await client.createModel('agent'))['id'] as string
    await wandb.upload('data', { 'train.jsonl': LINES })
    const train = async (config: object) => {
      const body = { model_id, training_data_url: `wandb-artifact:///${project}/data:latest`, config }
      const job = accepted(await client.post('/sft-training-jobs', body))['id'] as string
      assert.equal((await client.ended(job)).at(-1)?.type, 'training_ended')
    }
    const run = () => service.send('GET', `/api/runs/${project}/agent`)
    const rows = async () =>
      accepted(await service.send('GET', `/api/runs/${project}/agent/history`))['rows'] as readonly Row[]
    return { train, run, rows, wandb }
  }

  const logging = (target_training_step: number) => ({
    batch_size: 2,
    metric_logging: { enabled: true, target_training_step },
  })

  it('logs its steps and means to the run of the model, which the service starts and ends', async () => {
    const { train, run, rows } = await given()
    await train({ metric_logging: { enabled: false } })
    await train({})
    await train(logging(3))
    await until(async () => accepted(await run())['state'] === 'finished')
    const [first, second, means, ...more] = await rows()
    assert.deepEqual(more, [])
    assert.deepEqual(
      [first!, second!].map((row) => [row['sft/gradient_step'], row['training_step']]),
      [
        [1, 3],
        [2, 3],
      ],
    )
    const loss = (first!['sft/loss']! + second!['sft/loss']!) / 2
    assert.ok(Math.abs(means!['loss/train']! - loss) < 1e-9)
    assert.ok(means!['train/num_tokens']! > 0)
    assert.equal(means!['training_step'], 3)
    // The next job logs to the same run.
    await train(logging(4))
    await until(async () => (await rows()).length === 6)
  })

  it('adds to a run that a program has ended', async () => {
    const { train, run, rows, wandb } = await given()
    await wandb.init('agent')
    await wandb.log('agent', 0, ['{"_step":0,"own":1}'], { complete: true, exitcode: 0 })
    const before = accepted(await run())
    assert.equal(before['state'], 'finished')
    await train(logging(1))
    await until(async () => (await rows()).length === 4)
    assert.equal(accepted(await run())['ended_at'], before['ended_at'])
    // The program continues after its own lines.
    const { historyLineCount, historyTail } = await wandb.run('agent', 'historyLineCount historyTail')
    assert.deepEqual([historyLineCount, JSON.parse(historyTail).length], [1, 1])
    await wandb.log('agent', 1, ['{"_step":1,"own":2}'])
    const all = await rows()
    assert.deepEqual([all.length, all.filter((row) => 'own' in row).length], [5, 2])
  })
})

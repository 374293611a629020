import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { trainingClientOf } from '../../api/training/given.js'
import { workerOf } from '../../api/training/worker.js'
import { COUNTS } from '../../counts.js'
import { startExampleWorker } from '../../support/example-worker.js'
import { startRunningService } from '../../support/running-service.js'
import { itWith } from '../../support/skipping.js'

const STEPS = 60
const BASE = 'base'

const TRAIN = `
for step in $(seq ${STEPS}); do
  echo '{"type": "gradient_step", "metrics": {"step": '$step'}}'
  sleep 0.05
done
echo weights > "$TALLYTREE_OUTPUT/weights"
`

describe('the worker that runs a command', function () {
  this.timeout(900_000)

  itWith('python3')('loses and doubles no report when the service is killed', async () => {
    const service = await startRunningService()
    try {
      const byHand = workerOf(service, BASE, { name: 'by hand' })
      await byHand.claim()
      const client = trainingClientOf(service, 'default/p')
      const model = (await client.createModel('agent', BASE))['id'] as string
      for (let round = 0; round < COUNTS.trainingKills; round += 1) {
        const job = await client.createRl(model, [])
        const worker = startExampleWorker('command_worker.py', {
          address: service.address,
          key: service.key,
          baseModel: BASE,
          args: ['--once', '--', 'sh', '-c', TRAIN],
        })
        // Of the first rounds one kill is at the end, around the upload and the completion.
        const isLate = round % 2 === 1
        for (const pause of isLate ? [3400 + 130 * (round % 7)] : [800, 700 + 97 * (round % 9)]) {
          await sleep(pause)
          await service.kill('SIGKILL')
          await sleep(300)
          await service.restart()
        }
        assert.equal(await worker.exitCode, 0, worker.output())
        assert.deepEqual(
          (await client.events(job)).map(({ type, data }) => data['step'] ?? type),
          ['training_started', ...Array.from({ length: STEPS }, (_, at) => at + 1), 'training_ended'],
        )
        const { data } = await client.get(`/models/${model}/checkpoints?limit=100`)
        assert.deepEqual(
          (data as unknown as readonly { step: number }[]).map(({ step }) => step),
          Array.from({ length: round + 1 }, (_, at) => at + 1),
        )
      }
    } finally {
      await service.remove()
    }
  })
})

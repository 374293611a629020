import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { accepted } from '../api/calls/given.js'
import { trainingClientOf } from '../api/training/given.js'
import { workerOf } from '../api/training/worker.js'
import { startExampleWorker } from '../support/example-worker.js'
import { scratchDirectory } from '../support/scratch.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../support/service.js'
import { itWith } from '../support/skipping.js'
import { until } from '../support/until.js'

const itRuns = itWith('python3')

/** Appends the step to the file of the checkpoint before. */
const TRAIN = `
set -e
test -z "$TALLYTREE_API_KEY"
test "$(cat "$TALLYTREE_CONFIG")" = '{"learning_rate": 0.5}'
echo '{"type": "training_started", "num_sequences": 2}'
echo a line of the log
echo '{"type": "another"}'
echo '{"type": "gradient_step", "metrics": {"loss": 2, "grad_norm": NaN, "note": "x"}}'
echo '{"type": "gradient_step", "metrics": {"loss": 1.5}}'
mkdir "$TALLYTREE_OUTPUT/sub"
cp "$TALLYTREE_INPUT" "$TALLYTREE_OUTPUT/sub/data"
test -z "$TALLYTREE_CHECKPOINT" || cp "$TALLYTREE_CHECKPOINT/weights" "$TALLYTREE_OUTPUT"
printf "$TALLYTREE_KIND$TALLYTREE_STEP " >> "$TALLYTREE_OUTPUT/weights"
`

const GROUPS = [{ trajectories: [{ reward: 1 }] }]

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the worker that runs a command', () => {
  let service: TestService
  let scratch: string
  before(async () => {
    service = await startTestService()
    scratch = await scratchDirectory()
  })
  after(async () => {
    await service.stop()
    await rm(scratch, { recursive: true })
  })

  const given = async () => {
    const baseModel = `base-${randomUUID()}`
    const byHand = workerOf(service, baseModel)
    await byHand.claim()
    const client = trainingClientOf(service, `team-${randomUUID().slice(0, 8)}/p`)
    const model = (await client.createModel('agent', baseModel))['id'] as string
    const start = (...args: readonly string[]) =>
      startExampleWorker('command_worker.py', {
        address: service.address,
        key: ADMINISTRATOR_KEY,
        baseModel,
        args,
      })
    const eventsOf = async (job: string) =>
      (await client.events(job)).map(({ type, data }) => [type, data] as const)
    return { byHand, client, model, start, eventsOf }
  }

  itRuns('trains one job after another, each from the checkpoint before', async () => {
    const { byHand, client, model, start, eventsOf } = await given()
    const create = () => client.createRl(model, GROUPS, { learning_rate: 0.5 })
    const jobs = [await create(), await create()]
    const worker = start('--idle', '1', '--', 'sh', '-c', TRAIN)
    assert.equal(await worker.exitCode, 0, worker.output())
    assert.match(worker.output(), /^a line of the log$/m)
    for (const job of jobs)
      assert.deepEqual(await eventsOf(job), [
        ['training_started', { num_sequences: 2 }],
        ['gradient_step', { loss: 2 }],
        ['gradient_step', { loss: 1.5 }],
        ['training_ended', {}],
      ])

    await create()
    const { step, files } = (await byHand.claim())!.from!
    const contents = await Promise.all(
      files.map(async ({ path, url }) => [path, await (await fetch(url)).text()] as const),
    )
    assert.equal(step, 2)
    assert.deepEqual(Object.fromEntries(contents), {
      'sub/data': JSON.stringify(GROUPS),
      weights: 'rl1 rl2 ',
    })
  })

  itRuns('fails the job of a command that fails, with the end of its standard error', async () => {
    const { client, model, start, eventsOf } = await given()
    const failing = [
      ['echo out of memory >&2; exit 3', 'The command ended with exit code 3.\nout of memory'],
      ['kill -9 $$', 'The command was ended by SIGKILL.'],
      ['true', 'The worker wrote no checkpoint: the output directory has no files.'],
    ] as const
    for (const [command, error_message] of failing) {
      const job = await client.createRl(model, [])
      assert.equal(await start('--once', '--', 'sh', '-c', command).exitCode, 1)
      assert.deepEqual(await eventsOf(job), [['training_failed', { error_message }]])
    }
    const job = await client.createRl(model, [])
    assert.equal(await start('--once', '--', join(scratch, 'none')).exitCode, 1)
    assert.match(JSON.stringify(await eventsOf(job)), /The command cannot be started/)
  })

  itRuns('fails a job whose reports are refused, with the reason', async () => {
    const { client, model, start, eventsOf } = await given()
    const job = await client.createRl(model, [])
    const step = `echo '{"type": "gradient_step", "metrics": {"loss": 1}}'`
    const command = `echo '{"type": "training_started", "num_sequences": -1}'; while true; do ${step}; sleep 0.01; done`
    const worker = start('--once', '--', 'sh', '-c', command)
    assert.equal(await worker.exitCode, 1, worker.output())
    assert.match(JSON.stringify(await eventsOf(job)), /refused a request of the worker: 422 .*num_sequences/)
  })

  itRuns('ends the command and its children when the job is cancelled', async () => {
    const { client, model, start } = await given()
    const job = await client.createRl(model, [])
    const pids = join(scratch, randomUUID())
    const command = `sleep 600 & echo $$ $! > ${pids}.new; mv ${pids}.new ${pids}; wait`
    const worker = start('--once', '--', 'sh', '-c', command)
    let running: readonly number[] = []
    await until(async () => {
      running = (await readFile(pids, 'utf8').catch(() => '')).split(' ').filter(Boolean).map(Number)
      return running.length === 2
    })
    assert.deepEqual(running.map(isAlive), [true, true])
    accepted(await service.post(`/v1/preview/training-jobs/${job}/cancel`, {}))
    assert.equal(await worker.exitCode, 1, worker.output())
    assert.match(worker.output(), /given up: the heartbeat was answered with cancel/)
    await until(() => !running.some(isAlive))
    assert.deepEqual(await client.steps(model), [])
  })

  itRuns('ends on SIGTERM, while it waits and while a command runs', async () => {
    const { client, model, start } = await given()
    const worker = start('--', 'sh', '-c', 'echo started; sleep 600')
    const job = await client.createRl(model, [])
    await until(() => worker.output().includes('started'))
    worker.kill('SIGTERM')
    assert.equal(await worker.exitCode, 0)
    // Until the lease expires.
    assert.equal((await client.get(`/training-jobs/${job}`))['state'], 'running')

    accepted(await service.post(`/v1/preview/training-jobs/${job}/cancel`, {}))
    await client.createRl(model, [])
    const failing = start('--', 'sh', '-c', 'exit 1')
    await until(() => failing.output().includes('failed'))
    failing.kill('SIGTERM')
    assert.equal(await failing.exitCode, 0)
  })
})

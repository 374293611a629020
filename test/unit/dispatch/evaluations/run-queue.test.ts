import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { sha256 } from '../../../../src/adapters/system/system.js'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { parsedCall } from '../../../../src/application/evaluations/parsed-call.js'
import { foldedCall } from '../../../../src/application/calls/folded-call.js'
import { writeCalls } from '../../../../src/application/calls/write-calls.js'
import type { EvaluationPorts, RowToScore } from '../../../../src/dispatch/evaluations/ports.js'
import { openRunQueue } from '../../../../src/dispatch/evaluations/run-queue.js'
import { instantOf } from '../../../../src/kernel/codec/instant.js'
import { evaluationDecider } from '../../../../src/domain/evaluations/decider.js'
import { evaluationStream } from '../../../../src/domain/evaluations/events.js'
import { StoreUnavailable } from '../../../../src/kernel/ports/event-store-errors.js'
import { execute, load } from '../../../../src/kernel/execute.js'
import { randomUUID } from 'node:crypto'
import { until } from '../../../support/until.js'
import { virtualClock } from '../../../support/virtual-clock.js'

const PROJECT = 'red/project'
const RUN = { project_id: PROJECT, id: 'run' }
const STREAM = evaluationStream(PROJECT, 'run')
const CAUSE = { correlationId: 'c', causationId: 'c', actor: 'ada' }
const FAST = { firstRetryMs: 1, renewClaimMs: 10 }

/** A requested run over three rows of a dataset, and a model that a test controls. */
const givenRun = async () => {
  const eventStore = openInMemoryEventStore()
  const clock = virtualClock()
  const base = {
    eventStore,
    clock,
    sha256,
    ids: { next: () => randomUUID() },
    blobs: openInMemoryBlobStore(),
  }
  const now = instantOf(clock.now())
  const request = {
    ...RUN,
    kind: 'evaluate_model' as const,
    requested_at: now,
    wb_user_id: 'ada',
    key_id: 'key',
    scorer_refs: [],
    total_rows: 3,
    source_evaluation_run_id: null,
    evaluation: 'evaluation',
    model: 'm',
  }
  const decide = execute(base)
  await decide(evaluationDecider, STREAM, [{ type: 'RequestEvaluationRun', request }], CAUSE)
  const asked: number[] = []
  const behaviour = {
    model: (example: number): Promise<number> => Promise.resolve(example),
    rows: (): Promise<void> => Promise.resolve(),
  }
  const warnings: string[] = []
  const write = writeCalls(base)
  const ports: EvaluationPorts = {
    ...base,
    log: { info: () => undefined, warn: (event) => void warnings.push(event) },
    writeCalls: async (writes, cause) => {
      await write(writes, cause)
    },
    call: async (projectId, id) => {
      const call = await foldedCall(base)(projectId, id, 2n ** 62n)
      return call && parsedCall(call)
    },
    openCalls: async () => {
      const open = new Set<string>()
      for await (const { type, data } of eventStore.readAll()) {
        const { id } = data as { id: string }
        if (type === 'CallStarted') open.add(id)
        if (type === 'CallEnded') open.delete(id)
      }
      return [...open]
    },
    throttle: () => Promise.resolve(),
    object: () => Promise.resolve({ dataset: 'weave:///red/project/object/rows:1' }),
    scorer: () => Promise.resolve(undefined),
    publishObject: () => Promise.reject(new Error('not expected')),
    model: () =>
      Promise.resolve(async (example, { signal }) => {
        asked.push(example as number)
        const aborted = new Promise<number>((resolve) => {
          signal.addEventListener('abort', () => resolve(-1), { once: true })
        })
        return { output: await Promise.race([behaviour.model(example as number), aborted]) }
      }),
    sourceRows: () => assert.fail('not expected'),
    datasetRows: async function* (): AsyncGenerator<readonly RowToScore[]> {
      await behaviour.rows()
      yield [0, 1, 2].map((row) => ({
        key: `${row}`,
        opName: 'Evaluation.predict_and_score',
        example: row,
        exampleValue: row,
      }))
    },
  }
  const state = async () => (await load(base, evaluationDecider, STREAM)).state
  const cancel = { type: 'CancelEvaluationRun', ...RUN, now, userId: 'ada' } as const
  return {
    ports,
    behaviour,
    asked,
    warnings,
    clock,
    state,
    open: (instance = 'one', isAlone = true) => openRunQueue(ports, { ...FAST, instance, isAlone }),
    cancel: () => decide(evaluationDecider, STREAM, [cancel], CAUSE),
    finished: async () => {
      await until(async () => (await state()).finished !== null)
      const { outcome, error } = (await state()).finished!
      return [outcome, error]
    },
  }
}

const never = () => new Promise<never>(() => undefined)

describe('the queue of evaluation runs', () => {
  it('works on a run once when it is added repeatedly', async () => {
    const run = await givenRun()
    const queue = run.open()
    queue.add(RUN)
    queue.add(RUN)
    assert.deepEqual(await run.finished(), ['completed', null])
    queue.add(RUN)
    await queue.stop()
    assert.deepEqual(run.asked, [0, 1, 2])
  })

  it('fails a run after five tries when the error is not the fault of a store', async () => {
    const run = await givenRun()
    let tries = 0
    run.behaviour.rows = () => {
      tries += 1
      return Promise.reject(new TypeError('a defect'))
    }
    const queue = run.open()
    queue.add(RUN)
    assert.deepEqual(await run.finished(), ['failed', 'The service could not run the evaluation: a defect'])
    assert.equal(tries, 5)
    await queue.stop()
  })

  it('completes a run when a store comes back after more than five tries', async () => {
    const run = await givenRun()
    let tries = 0
    run.behaviour.rows = () => {
      tries += 1
      return tries > 8 ? Promise.resolve() : Promise.reject(new StoreUnavailable('away'))
    }
    const queue = run.open()
    queue.add(RUN)
    assert.deepEqual(await run.finished(), ['completed', null])
    await queue.stop()
  })

  it('stops while a canceled run waits for a store', async () => {
    const run = await givenRun()
    run.behaviour.model = never
    const queue = run.open()
    queue.add(RUN)
    await until(() => run.asked.length === 3)
    const away = { ...run.ports, openCalls: () => Promise.reject(new StoreUnavailable('away')) }
    Object.assign(run.ports, away)
    await run.cancel()
    queue.cancel(RUN)
    await until(() => run.warnings.length >= 2)
    await queue.stop()
    assert.equal((await run.state()).finished, null)
  })

  it('ends a run that is canceled while it is retried', async () => {
    const run = await givenRun()
    run.behaviour.rows = () => Promise.reject(new StoreUnavailable('away'))
    const queue = run.open()
    queue.add(RUN)
    await until(() => run.warnings.length >= 2)
    await run.cancel()
    queue.cancel(RUN)
    assert.deepEqual(await run.finished(), ['canceled', 'The evaluation run was canceled.'])
    await queue.stop()
  })

  it('continues a stopped run without asking for recorded rows again', async () => {
    const run = await givenRun()
    run.behaviour.model = (example) => (example === 2 ? never() : Promise.resolve(example))
    const first = run.open()
    first.add(RUN)
    await until(async () => (await run.ports.openCalls(PROJECT, 'run')).length === 3)
    await first.stop()
    run.behaviour.model = (example) => Promise.resolve(example)
    const second = run.open('two')
    second.add(RUN)
    assert.deepEqual(await run.finished(), ['completed', null])
    await second.stop()
    assert.deepEqual(run.asked, [0, 1, 2, 2])
  })

  it('leaves a run to the process that claimed it, until its claim expires', async () => {
    const run = await givenRun()
    run.behaviour.model = never
    const now = run.clock.millis()
    run.clock.standAt(now)
    const first = run.open('one', false)
    first.add(RUN)
    await until(() => run.asked.length === 3)
    await first.stop()
    run.behaviour.model = (example) => Promise.resolve(example)
    const second = run.open('two', false)
    second.add(RUN)
    const reads = run.asked.length
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(run.asked.length, reads)
    assert.equal((await run.state()).claim?.instance, 'one')
    run.clock.standAt(now + 4 * 60_000)
    assert.deepEqual(await run.finished(), ['completed', null])
    assert.equal((await run.state()).claim?.instance, 'two')
    await second.stop()
  })

  it('ends a canceled run whose process was killed', async () => {
    const run = await givenRun()
    run.behaviour.model = never
    const first = run.open('one', false)
    first.add(RUN)
    await until(() => run.asked.length === 3)
    await first.stop()
    const second = run.open('two', false)
    second.add(RUN)
    await run.cancel()
    second.cancel(RUN)
    assert.deepEqual(await run.finished(), ['canceled', 'The evaluation run was canceled.'])
    assert.deepEqual(await run.ports.openCalls(PROJECT, 'run'), [])
    await second.stop()
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { hmacSha256, sha256, systemClock, systemIds } from '../../../../src/adapters/system/system.js'
import type { EvaluationServices } from '../../../../src/application/evaluations/services.js'
import { publishObject } from '../../../../src/application/objects/publish.js'
import { digestedRows, publishTable } from '../../../../src/application/tables/publish-table.js'
import { scoringTools } from '../../../../src/composition/scoring-tools.js'
import { openRunQueue } from '../../../../src/dispatch/evaluations/run-queue.js'
import { emptyDirectory, evolve } from '../../../../src/domain/access/directory.js'
import { evaluationDecider, evaluationStream } from '../../../../src/domain/evaluations/evaluation-run.js'
import { versionRef } from '../../../../src/domain/refs/ref.js'
import { instantOf } from '../../../../src/kernel/codec/instant.js'
import { execute, load } from '../../../../src/kernel/execute.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { StoreUnavailable } from '../../../../src/kernel/ports/event-store-errors.js'
import { projections } from '../../../../src/projections/all.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { startProjector } from '../../../../src/projections/runtime/projector.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { until } from '../../../support/until.js'
import { virtualClock } from '../../../support/virtual-clock.js'

const PROJECT = 'red/project'
const CAUSE = { correlationId: 'c', causationId: 'c', actor: 'ada' }
const FAST = { firstRetryMs: 1, renewClaimMs: 10 }
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }

const directory = evolve(emptyDirectory(), {
  type: 'UserCreated',
  data: { user: 'ada', administrator: true },
})

/** A log with a model and an evaluation over three rows, and its read models. */
const openLog = async () => {
  const clickHouse = await openTestClickHouse()
  await migrate(clickHouse.writer)
  const ports = {
    eventStore: openInMemoryEventStore(),
    blobs: openInMemoryBlobStore(),
    clock: systemClock,
    ids: systemIds,
    sha256,
  }
  const published = async (name: string, value: Json) => {
    const { digest } = await publishObject(ports)(PROJECT, name, value, CAUSE)
    return versionRef(PROJECT, 'object', name, digest)
  }
  const rows = ['0', '1', '2'].map((user_input) => ({ user_input }))
  const { digests, contents } = await digestedRows(sha256, rows)
  const { digest } = await publishTable(ports)(
    { projectId: PROJECT, userId: 'ada', rowDigests: digests, contents: contents.values() },
    CAUSE,
  )
  const dataset = await published('rows', { rows: `weave:///${PROJECT}/table/${digest}` })
  const evaluation = await published('evaluation', { dataset })
  const model = await published('model', { _class_name: 'LLMStructuredCompletionModel', llm_model_id: 'm' })
  const projector = await startProjector({ ...ports, clickHouse: clickHouse.writer, projections, log: quiet })
  return { ports, clickHouse, projector, evaluation, model }
}

let given: Awaited<ReturnType<typeof openLog>>

/** A requested run, and a model that a test controls. */
const givenRun = async () => {
  const { clickHouse, projector, evaluation, model } = given
  const clock = virtualClock()
  const base = { ...given.ports, clock }
  const now = instantOf(clock.now())
  const key = { project_id: PROJECT, id: randomUUID() }
  const stream = evaluationStream(PROJECT, key.id)
  const request = {
    ...key,
    kind: 'evaluate_model' as const,
    requested_at: now,
    wb_user_id: 'ada',
    key_id: 'key',
    scorer_refs: [],
    total_rows: 3,
    source_evaluation_run_id: null,
    evaluation,
    model,
  }
  const decide = execute(base)
  await decide(evaluationDecider, stream, [{ type: 'RequestEvaluationRun', request }], CAUSE)
  const asked: number[] = []
  const behaviour = {
    model: (example: number): Promise<number> => Promise.resolve(example),
    read: (): Promise<void> => Promise.resolve(),
  }
  const warnings: string[] = []
  const services: EvaluationServices = {
    ...base,
    log: { ...quiet, warn: (event) => void warnings.push(event) },
    clickHouse,
    readModels: {
      reached: projector.reached,
      waitFor: async (...to) => {
        await behaviour.read()
        return projector.waitFor(...to)
      },
    },
    secrets: { get: () => Promise.resolve(undefined) },
    webhookSender: { send: () => assert.fail('not expected') },
    scoringTools,
    scoreBuiltIn: () => () => assert.fail('not expected'),
    hmacSha256,
    vendor: 'Vendor',
    directory: () => directory,
    reading: undefined,
    throttle: () => Promise.resolve(),
    askModel: async ({ messages }, { signal }) => {
      const [{ content }] = messages as readonly [JsonObject]
      asked.push(Number(content))
      const aborted = new Promise<number>((resolve) => {
        signal.addEventListener('abort', () => resolve(-1), { once: true })
      })
      const answer = await Promise.race([behaviour.model(Number(content)), aborted])
      return { completion: { choices: [{ message: { role: 'assistant', content: `${answer}` } }] } }
    },
  }
  const state = async () => (await load(base, evaluationDecider, stream)).state
  const cancel = { type: 'CancelEvaluationRun', ...key, now, userId: 'ada' } as const
  return {
    key,
    behaviour,
    asked,
    warnings,
    clock,
    state,
    open: (instance = 'one', isAlone = true) => openRunQueue(services, { ...FAST, instance, isAlone }),
    cancel: () => decide(evaluationDecider, stream, [cancel], CAUSE),
    openCalls: async () => {
      const open = new Set<string>()
      for await (const { type, data } of base.eventStore.readAll()) {
        const { id, trace_id } = data as { id: string; trace_id?: string }
        if (type === 'CallStarted' && trace_id === key.id) open.add(id)
        if (type === 'CallEnded') open.delete(id)
      }
      return [...open]
    },
    finished: async () => {
      await until(async () => (await state()).finished !== null)
      const { outcome, error } = (await state()).finished!
      return [outcome, error]
    },
  }
}

const never = () => new Promise<never>(() => undefined)

describe('the queue of evaluation runs', () => {
  before(async () => void (given = await openLog()))
  after(async () => {
    await given.projector.stop()
    await given.clickHouse.close()
  })

  it('works on a run once when it is added repeatedly', async () => {
    const run = await givenRun()
    const queue = run.open()
    queue.add(run.key)
    queue.add(run.key)
    assert.deepEqual(await run.finished(), ['completed', null])
    queue.add(run.key)
    await queue.stop()
    assert.deepEqual(run.asked, [0, 1, 2])
  })

  it('fails a run after five tries when the error is not the fault of a store', async () => {
    const run = await givenRun()
    let tries = 0
    run.behaviour.read = () => {
      tries += 1
      return Promise.reject(new TypeError('a defect'))
    }
    const queue = run.open()
    queue.add(run.key)
    assert.deepEqual(await run.finished(), ['failed', 'The service could not run the evaluation: a defect'])
    assert.equal(tries, 5)
    await queue.stop()
  })

  it('completes a run when a store comes back after more than five tries', async () => {
    const run = await givenRun()
    let tries = 0
    run.behaviour.read = () => {
      tries += 1
      return tries > 8 ? Promise.resolve() : Promise.reject(new StoreUnavailable('away'))
    }
    const queue = run.open()
    queue.add(run.key)
    assert.deepEqual(await run.finished(), ['completed', null])
    await queue.stop()
  })

  it('stops while a canceled run waits for a store', async () => {
    const run = await givenRun()
    run.behaviour.model = never
    const queue = run.open()
    queue.add(run.key)
    await until(() => run.asked.length === 3)
    run.behaviour.read = () => Promise.reject(new StoreUnavailable('away'))
    await run.cancel()
    queue.cancel(run.key)
    await until(() => run.warnings.length >= 2)
    await queue.stop()
    assert.equal((await run.state()).finished, null)
  })

  it('ends a run that is canceled while it is retried', async () => {
    const run = await givenRun()
    run.behaviour.read = () => Promise.reject(new StoreUnavailable('away'))
    const queue = run.open()
    queue.add(run.key)
    await until(() => run.warnings.length >= 2)
    await run.cancel()
    queue.cancel(run.key)
    assert.deepEqual(await run.finished(), ['canceled', 'The evaluation run was canceled.'])
    await queue.stop()
  })

  it('continues a stopped run without asking for recorded rows again', async () => {
    const run = await givenRun()
    run.behaviour.model = (example) => (example === 2 ? never() : Promise.resolve(example))
    const first = run.open()
    first.add(run.key)
    await until(async () => (await run.openCalls()).length === 3)
    await first.stop()
    run.behaviour.model = (example) => Promise.resolve(example)
    const second = run.open('two')
    second.add(run.key)
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
    first.add(run.key)
    await until(() => run.asked.length === 3)
    await first.stop()
    run.behaviour.model = (example) => Promise.resolve(example)
    const second = run.open('two', false)
    second.add(run.key)
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
    first.add(run.key)
    await until(() => run.asked.length === 3)
    await first.stop()
    const second = run.open('two', false)
    second.add(run.key)
    await run.cancel()
    second.cancel(run.key)
    assert.deepEqual(await run.finished(), ['canceled', 'The evaluation run was canceled.'])
    assert.deepEqual(await run.openCalls(), [])
    await second.stop()
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { sha256 } from '../../../src/adapters/system/system.js'
import { rowsToStoreFrom, runRowsFrom } from '../../../src/application/evaluations/run-rows.js'
import type { ClickHouseReader } from '../../../src/kernel/ports/clickhouse.js'
import { areStored, storedRows } from '../../../src/projections/evaluations/stored-rows.js'
import { startEvaluationRows } from '../../../src/projections/evaluations/rows-pass.js'
import type { TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { sharedService, someProject } from '../shared-service.js'

const value = fc.oneof(
  fc.boolean(),
  fc.constantFrom(0.1, 1 / 3, 123456789.12345679, 5e-324, 7),
  fc.constant(null),
  fc.record({ points: fc.double({ noNaN: true, noDefaultInfinity: true }), reason: fc.string() }),
)
const row = fc.record({
  example: fc.nat({ max: 3 }),
  scores: fc.uniqueArray(
    fc.record({
      scorer: fc.constantFrom('exact', 'judge', 'tone'),
      value,
      by: fc.constantFrom('row', 'call', 'feedback'),
    }),
    { selector: ({ scorer }) => scorer, maxLength: 3 },
  ),
  tokens: fc.option(fc.nat({ max: 100_000 })),
  model: fc.constantFrom('gpt-4o', 'without a price'),
  latency: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
})
type Row = typeof row extends fc.Arbitrary<infer R> ? R : never

const LATE = 'weave:///team/project/object/late:1'
const PRICE = { prompt_token_cost: 1, completion_token_cost: 1, effective_date: '2020-01-01T00:00:00Z' }
const START = Date.parse('2026-01-01T00:00:00Z')
const at = (ms: number) => new Date(START + ms).toISOString()

describe('the stored rows of evaluation runs', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const services = { reading: { generation: () => '' }, sha256 }
  const never = new AbortController().signal
  const reader = () => service.stores.clickHouse.reader

  const record = async (project: string, rows: readonly Row[]) => {
    const run = randomUUID()
    const client = service.in(project)
    const op = (name: string) => `weave:///${project}/op/${name}:1`
    const call = (id: string, parent_id: string | null, name: string, ms: number, more: object) => ({
      ...{ project_id: project, id, trace_id: run, parent_id, op_name: op(name), attributes: {}, inputs: {} },
      ...{ started_at: at(ms), ended_at: at(ms + 700), output: null, summary: {}, ...more },
    })
    const feedback: object[] = []
    const calls = rows.flatMap(({ example, scores, tokens, model, latency }, n) => {
      const id = randomUUID()
      const of = (by: string) => scores.filter((score) => score.by === by)
      const own = Object.fromEntries(of('row').map(({ scorer, value }) => [scorer, value]))
      const usage = tokens === null ? {} : { [model]: { requests: 1, prompt_tokens: tokens } }
      for (const { scorer, value } of of('feedback'))
        feedback.push({
          weave_ref: `weave:///${project}/call/${id}`,
          feedback_type: `wandb.runnable.${scorer}`,
          payload: { output: value },
          runnable_ref: `weave:///${project}/object/${scorer}:1`,
        })
      return [
        call(id, run, 'Evaluation.predict_and_score', n, {
          inputs: { example: { question: example } },
          output: { output: 'an answer', scores: own, ...(latency !== null && { model_latency: latency }) },
        }),
        call(randomUUID(), id, 'Model.predict', n, { summary: { usage } }),
        ...of('call').map(({ scorer, value }) =>
          call(randomUUID(), id, `${scorer}.score`, n, {
            output: value,
            inputs: { self: `weave:///${project}/object/${scorer}:1`, output: 'an answer' },
          }),
        ),
      ]
    })
    await client.calls.complete([call(run, null, 'Evaluation.evaluate', 0, {}), ...calls]).json()
    for (const one of feedback) await client.feedback.create(one).json()
    return {
      run,
      traceId: run,
      rowIds: calls.filter(({ parent_id }) => parent_id === run).map(({ id }) => id),
    }
  }

  /** Of all that was written, once it can be read. */
  const position = async (project: string): Promise<bigint> => {
    const head = await service.stores.eventStore.head()
    const headers = { 'Tallytree-Min-Position': String(head) }
    await service.in(project).with({ headers }).calls.count().json()
    return head
  }

  const read = async (reader: ClickHouseReader, projectId: string, run: string, position: bigint) =>
    (await runRowsFrom(services)(reader, { projectId, position }, [{ id: run, trace_id: run }])).compared[0]

  /** As it is without stored rows. */
  const withoutStored = (): ClickHouseReader => ({
    ...reader(),
    query: (...asked) => reader().query(...asked),
    stream: (sql, ...asked) =>
      reader().stream(
        sql.includes('evaluation_rows') ? sql.replace('WHERE', 'WHERE false AND') : sql,
        ...asked,
      ),
  })

  /** Fails where the rows are not stored. */
  const onlyStored = (): ClickHouseReader => ({
    ...reader(),
    query: (sql, ...asked) => {
      assert.doesNotMatch(sql, /FROM calls/)
      return reader().query(sql, ...asked)
    },
    stream: (...asked) => reader().stream(...asked),
  })

  const store = async (projectId: string, runId: string, position: bigint) => {
    const ofRun = { projectId, runId, traceId: runId }
    const found = await rowsToStoreFrom(reader(), services)(ofRun, position, never)
    if (found !== undefined)
      await service.stores.clickHouse.writer.insert(
        storedRows({ ...ofRun, version: found.version }, found.rows, position),
      )
    return found
  }

  it('equal the rows read from the calls, before and after changes and as of earlier positions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async (rows) => {
        const project = someProject()
        const { run, rowIds } = await record(project, rows)
        const first = await position(project)
        const expected = await read(withoutStored(), project, run, first)
        assert.equal(expected?.length, rows.length)
        await store(project, run, first)
        assert.deepEqual(await read(onlyStored(), project, run, first), expected)

        await service.in(project).calls.delete(rowIds[0]!).json()
        const second = await position(project)
        const afterDeletion = await read(withoutStored(), project, run, second)
        assert.equal(afterDeletion?.length ?? 0, rows.length - 1)
        assert.deepEqual(await read(reader(), project, run, second), afterDeletion)
        assert.deepEqual(await read(reader(), project, run, first), expected)
        await store(project, run, second)
        if (rows.length > 1) assert.deepEqual(await read(onlyStored(), project, run, second), afterDeletion)
        assert.deepEqual(await read(reader(), project, run, first), expected)
      }),
      { numRuns: 4 },
    )
  })

  const SCORED: Row = {
    example: 1,
    scores: [{ scorer: 'exact', value: true, by: 'row' }],
    tokens: 1000,
    model: 'gpt-4o',
    latency: 0.5,
  }

  it('are not those of another price or of another score', async () => {
    const project = someProject()
    const { run, rowIds } = await record(project, [SCORED])
    const before = await position(project)
    await store(project, run, before)
    const [row] = (await read(onlyStored(), project, run, before))!
    await service
      .in(project)
      .costs.create({ costs: { 'gpt-4o': PRICE } })
      .json()
    const [dearer] = (await read(reader(), project, run, await position(project)))!
    assert.notEqual(dearer!.cost, row!.cost)
    assert.equal(dearer!.cost, 1000)
    const weave_ref = `weave:///${project}/call/${rowIds[0]}`
    const feedback = {
      weave_ref,
      feedback_type: 'wandb.runnable.late',
      payload: { output: 3 },
      runnable_ref: LATE,
    }
    await service.in(project).feedback.create(feedback).json()
    const [rescored] = (await read(reader(), project, run, await position(project)))!
    assert.deepEqual(rescored!.scores, { exact: true, late: 3 })
    assert.deepEqual((await read(reader(), project, run, before))![0], row)
  })

  it('are stored once a run has ended, and again after it changed', async () => {
    const project = someProject()
    let reached = 0n
    const stored: string[] = []
    const rowsOf = rowsToStoreFrom(reader(), services)
    const { clickHouse } = service.stores
    const pass = startEvaluationRows({
      ...clickHouse,
      rowsOf: async (run, ...asked) => {
        const found = await rowsOf(run, ...asked)
        if (run.projectId === project && found !== undefined) stored.push(run.runId)
        return found
      },
      reached: () => reached,
      nextInsert: (_, signal) => sleep(5, undefined, { signal }).catch(() => undefined),
      log: { error: (_, fields) => assert.fail(JSON.stringify(fields)) },
      quietMs: 0,
      lookEveryMs: 5,
    })
    try {
      const open = await service.in(project).calls.start({ op_name: 'Evaluation.evaluate' }).json()
      const { run, rowIds } = await record(project, [SCORED])
      const versionNow = async () => {
        reached = await position(project)
        const { versions } = await runRowsFrom(services)(
          reader(),
          { projectId: project, position: reached },
          [{ id: run, trace_id: run }],
        )
        return versions!.trim()
      }
      const isStored = async (version: string) => areStored(reader(), project, run, version)
      const first = await versionNow()
      await until(() => isStored(first))
      const weave_ref = `weave:///${project}/call/${rowIds[0]}`
      const feedback = {
        weave_ref,
        feedback_type: 'wandb.runnable.late',
        payload: { output: 3 },
        runnable_ref: LATE,
      }
      await service.in(project).feedback.create(feedback).json()
      const second = await versionNow()
      assert.notEqual(second, first)
      await until(() => isStored(second))
      const costs = { 'gpt-4o': PRICE }
      await service.in(project).costs.create({ costs }).json()
      const third = await versionNow()
      await until(() => isStored(third))
      assert.ok(!stored.includes(open.id))
    } finally {
      await pass.stop()
    }
  })
})

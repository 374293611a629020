import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { sha256, systemIds } from '../../../../src/adapters/system/system.js'
import { ReadBudget } from '../../../../src/application/read-budget.js'
import { openHistory } from '../../../../src/application/runs/history.js'
import { openRuns } from '../../../../src/application/runs/runs.js'
import { historyLine } from '../../../../src/domain/runs/history.js'
import type { RunCommand } from '../../../../src/domain/runs/commands.js'
import type { Json } from '../../../../src/kernel/json/json.js'
import { instantOf } from '../../../../src/kernel/codec/instant.js'

type Row = Readonly<Record<string, Json>>

const [project_id, run_id] = ['team/p', 'r']
const cause = { correlationId: 'c', causationId: 'c', actor: 'a' }
const now = instantOf(new Date(0))
const NO_RANGE = { minStep: null, maxStep: null }

/** What a client does: it logs lines, or metrics one by one, or reads. */
const sendings = fc.array(
  fc.oneof(
    fc.record({
      lines: fc.integer({ min: 1, max: 5 }),
      step: fc.constantFrom('own', 'none', 2.5, -1, 1e300, 'x', null),
    }),
    fc.record({
      metrics: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(600)),
      withStep: fc.boolean(),
    }),
    fc.constant({ read: true as const }),
  ),
  { maxLength: 12 },
)

describe('the history of a run', () => {
  it('has lines and metrics in the order in which they were logged, each at a step', async () => {
    const blobs = openInMemoryBlobStore()
    await fc.assert(
      fc.asyncProperty(sendings, async (given) => {
        const ports = { eventStore: openInMemoryEventStore(), ids: systemIds, blobs, sha256 }
        const runs = openRuns(ports)
        const history = openHistory(runs)
        const place = { project: project_id, run: run_id }
        const write = (command: RunCommand) => runs.write(command, cause)
        await write({ type: 'StartRun', project_id, run_id, name: 'n', user: 'u', now })
        const expected: Row[] = []
        let lines = 0
        // The step that each row belongs to.
        const steps: number[] = []
        let highest = 0
        const belongsTo = (step: Json | undefined) => {
          const own = Number.isSafeInteger(step) && (step as number) >= 0 ? (step as number) : null
          highest = Math.max(highest, own ?? 0)
          steps.push(own ?? highest)
        }
        const check = async () => {
          const rows = (await history.sample(place, NO_RANGE, 100_000, new ReadBudget())).map((text) => {
            const { _timestamp, ...row } = JSON.parse(text) as Row
            return row
          })
          assert.deepEqual(rows, expected)
          const counts = [...(await history.keys(place)).keys].map(([key, { types }]) => [
            key,
            types['number'],
          ])
          for (const key of ['a', 'b'])
            assert.equal(Object.fromEntries(counts)[key] ?? 0, expected.filter((row) => key in row).length)
          const half = expected.length >> 1
          const ranges = [
            { minStep: half, maxStep: null },
            { minStep: 0, maxStep: half },
          ]
          for (const range of ranges) {
            const page = await history.page(place, range, 100_000, new ReadBudget())
            const { minStep, maxStep } = range
            const placed = steps.filter((step) => step >= minStep && step < (maxStep ?? Infinity))
            assert.equal(page.length, placed.length)
            assert.deepEqual(await history.sample(place, range, 100_000, new ReadBudget()), page)
          }
          assert.equal((await history.lastLine(place)) !== undefined, lines > 0)
        }
        for (const step of given) {
          if ('read' in step) await check()
          else if ('lines' in step) {
            const rows = Array.from({ length: step.lines }, (_, at): Row => {
              if (step.step === 'none') return { a: at }
              return { a: at, _step: step.step === 'own' ? expected.length + at : step.step }
            })
            for (const { _step } of rows) belongsTo(_step)
            const logged = rows.map((row) => historyLine(JSON.stringify(row)))
            const sent = { offset: lines, lines: logged, writer: null }
            const of = { project_id, run_id, sent, summary: null }
            await write({ type: 'LogHistory', ...of, isQuiet: false, end: null, now })
            lines += rows.length
            expected.push(...rows)
          } else
            for (let n = 0; n < step.metrics; n += 1) {
              const at = step.withStep ? expected.length : null
              await write({ type: 'LogMetrics', project_id, run_id, metrics: { b: n }, step: at })
              belongsTo(at ?? undefined)
              expected.push({ b: n, ...(at === null ? {} : { _step: at }) })
            }
        }
        await check()
      }),
      { numRuns: 15 },
    )
  })

  const value = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.constantFrom('NaN', null, 'text', true))
  const rows = fc.array(
    fc.record(
      { a: value, b: value, nested: fc.record({ c: value }), _step: fc.integer({ min: 0, max: 40 }) },
      { requiredKeys: [] },
    ),
    { maxLength: 60 },
  )
  const spec = fc.record({
    keys: fc.uniqueArray(fc.constantFrom('a', 'b', 'nested.c', '_step'), { minLength: 1 }),
    range: fc.record({
      minStep: fc.option(fc.integer({ min: 0, max: 40 })),
      maxStep: fc.option(fc.integer({ min: 0, max: 40 })),
    }),
    most: fc.constantFrom(0, 1, 7, 1000),
  })

  it('samples all specs like each alone, complete where there is room, by one read of each chunk', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.integer({ min: 1, max: 20 }),
        fc.array(spec),
        async (given, ofChunk, specs) => {
          const ports = {
            eventStore: openInMemoryEventStore(),
            ids: systemIds,
            blobs: openInMemoryBlobStore(),
            sha256,
          }
          const runs = openRuns(ports)
          let read = 0
          const rowsOf: typeof runs.rowsOf = (...asked) => {
            read += 1
            return runs.rowsOf(...asked)
          }
          const place = { project: project_id, run: run_id }
          await runs.write({ type: 'StartRun', project_id, run_id, name: 'n', user: 'u', now }, cause)
          const texts = given.map((row) => JSON.stringify(row))
          for (let offset = 0; offset < texts.length; offset += ofChunk) {
            const lines = texts.slice(offset, offset + ofChunk).map(historyLine)
            const of = { project_id, run_id, sent: { offset, lines, writer: null }, summary: null }
            await runs.write({ type: 'LogHistory', ...of, isQuiet: false, end: null, now }, cause)
          }
          const history = openHistory({ ...runs, rowsOf })
          const numbers = specs.map((one) => ({ ...one, keys: one.keys.filter((key) => key === '_step') }))
          await history.sampleOf(place, numbers, new ReadBudget())
          assert.ok(read <= Math.ceil(given.length / ofChunk))

          let highest = 0
          const placed = given.map((row) => {
            highest = Math.max(highest, row._step ?? 0)
            return { row: row, step: row._step ?? highest }
          })
          const at = (row: Row, key: string) =>
            key === 'nested.c' ? (row['nested'] as Row | undefined)?.['c'] : row[key]
          const unsampled = ({ keys, range: { minStep, maxStep } }: (typeof specs)[number]) =>
            placed
              .filter(({ step }) => step >= (minStep ?? 0) && step < (maxStep ?? Infinity))
              .filter(({ row }) => keys.every((key) => at(row, key) !== undefined))
              .map(({ row }) =>
                Object.fromEntries(
                  ['_step', ...keys].flatMap((key) =>
                    at(row, key) === undefined ? [] : [[key, at(row, key)!]],
                  ),
                ),
              )
          const sampled = await history.sampleOf(place, specs, new ReadBudget())
          const text = (row: object) => JSON.stringify(row)
          for (const [index, one] of specs.entries()) {
            const all = unsampled(one).map(text)
            const found = sampled[index]!.map(text)
            if (all.length <= one.most) assert.deepEqual(found, all)
            else assert.ok(found.length <= one.most && found.every((row) => all.includes(row)))
            const [alone] = await openHistory(runs).sampleOf(place, [one], new ReadBudget())
            assert.deepEqual(alone!.map(text), found)
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})

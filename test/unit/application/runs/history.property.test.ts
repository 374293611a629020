import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { sha256, systemIds } from '../../../../src/adapters/system/system.js'
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
          const rows = (await history.sample(place, NO_RANGE, 100_000)).map((text) => {
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
            const page = await history.page(place, range, 100_000)
            const { minStep, maxStep } = range
            const placed = steps.filter((step) => step >= minStep && step < (maxStep ?? Infinity))
            assert.equal(page.length, placed.length)
            assert.deepEqual(await history.sample(place, range, 100_000), page)
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
})

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { sha256, systemIds } from '../../../../src/adapters/system/system.js'
import { openHistory } from '../../../../src/application/runs/history.js'
import { openRuns } from '../../../../src/application/runs/runs.js'
import { historyLine } from '../../../../src/domain/runs/history.js'
import type { RunCommand } from '../../../../src/domain/runs/commands.js'
import { instantOf } from '../../../../src/kernel/codec/instant.js'

type Row = Readonly<Record<string, number>>

const [project_id, run_id] = ['team/p', 'r']
const cause = { correlationId: 'c', causationId: 'c', actor: 'a' }
const now = instantOf(new Date(0))
const NO_RANGE = { minStep: null, maxStep: null }

/** What a client does: it logs lines, or metrics one by one, or reads. */
const steps = fc.array(
  fc.oneof(
    fc.record({ lines: fc.integer({ min: 1, max: 5 }) }),
    fc.record({
      metrics: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(600)),
      withStep: fc.boolean(),
    }),
    fc.constant({ read: true as const }),
  ),
  { maxLength: 12 },
)

describe('the history of a run', () => {
  it('has lines and metrics in the order in which they were logged', async () => {
    const blobs = openInMemoryBlobStore()
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const ports = { eventStore: openInMemoryEventStore(), ids: systemIds, blobs, sha256 }
        const runs = openRuns(ports)
        const history = openHistory(ports, runs)
        const place = { project: project_id, run: run_id }
        const write = (command: RunCommand) => runs.write(command, cause)
        await write({ type: 'StartRun', project_id, run_id, name: 'n', user: 'u', now })
        const expected: Row[] = []
        let lines = 0
        const check = async () => {
          const rows = (await history.sample(place, NO_RANGE, 100_000)).map((text) => {
            const { _timestamp, ...row } = JSON.parse(text) as Row
            return row
          })
          assert.deepEqual(rows, expected)
          const counts = [...(await history.keys(place))].map(([key, { types }]) => [key, types['number']])
          for (const key of ['a', 'b'])
            assert.equal(Object.fromEntries(counts)[key] ?? 0, expected.filter((row) => key in row).length)
          const half = expected.length >> 1
          assert.deepEqual(
            (await history.page(place, { minStep: half, maxStep: null }, 100_000)).length,
            expected.filter(({ _step }) => _step !== undefined && _step >= half).length,
          )
          assert.equal((await history.lastLine(place)) !== undefined, lines > 0)
        }
        for (const step of given) {
          if ('read' in step) await check()
          else if ('lines' in step) {
            const rows = Array.from({ length: step.lines }, (_, at) => ({
              a: at,
              _step: expected.length + at,
            }))
            const logged = rows.map((row) => historyLine(JSON.stringify(row)))
            const of = { project_id, run_id, offset: lines, lines: logged, summary: null }
            await write({ type: 'LogHistory', ...of, isQuiet: false, end: null, now })
            lines += rows.length
            expected.push(...rows)
          } else
            for (let n = 0; n < step.metrics; n += 1) {
              const at = step.withStep ? expected.length : null
              await write({ type: 'LogMetrics', project_id, run_id, metrics: { b: n }, step: at })
              expected.push({ b: n, ...(at === null ? {} : { _step: at }) })
            }
        }
        await check()
      }),
      { numRuns: 30 },
    )
  })
})

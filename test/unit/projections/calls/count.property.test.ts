import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { EmbeddedConnection } from '../../../../src/adapters/clickhouse/embedded-connection.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { countCalls } from '../../../../src/projections/calls/count.js'
import { NO_FILTER } from '../../../../src/projections/calls/filter.js'
import { callsProjection } from '../../../../src/projections/calls/project.js'
import { migrate } from '../../../../src/projections/migrate.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { COUNTS } from '../../../counts.js'
import { engineDirectory, openTestClickHouse } from '../../../support/engine.js'
import { arbitraryCalls, arbitraryPosition } from '../../../support/expression/arbitrary-calls.js'
import { isThere, type Call } from '../../../support/expression/call.js'
import { eventsOfCalls } from '../../../support/expression/events-of-calls.js'
import { fillCalls } from '../../../support/many-calls.js'
import { rowsReadBy } from '../../../support/rows-read.js'

const ROOTS = { ...NO_FILTER, trace_roots_only: true }

describe('the count of calls', function () {
  this.timeout(600_000)
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const insert = async (events: readonly ProjectedEvent[]): Promise<void> => {
    for (const rows of callsProjection.rowsOf(events)) await clickHouse.writer.insert(rows)
  }

  it('is right after each batch, repeated rows and merges, as of any position', async () => {
    const step = fc.record({
      share: fc.double({ min: 0, max: 0.5, noNaN: true }),
      repeats: fc.boolean(),
      merges: fc.boolean(),
      positions: fc.array(arbitraryPosition, { minLength: 1, maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(
        arbitraryCalls('any/project'),
        fc.array(step, { minLength: 2, maxLength: 6 }),
        async (calls, steps) => {
          const projectId = `t/${randomUUID()}`
          const own = calls.map((call): Call => ({ ...call, project_id: projectId }))
          const events = eventsOfCalls(own)
          let inserted = 0
          for (const { share, repeats, merges, positions } of steps) {
            const from = repeats ? Math.floor(inserted / 2) : inserted
            inserted = Math.min(events.length, inserted + Math.ceil(share * events.length))
            // Events of one position come together.
            while (inserted > 0 && events[inserted]?.position === events[inserted - 1]!.position)
              inserted += 1
            await insert(events.slice(from, inserted))
            if (merges) await clickHouse.writer.command('OPTIMIZE TABLE calls FINAL')
            const last = Number(events[inserted - 1]?.position ?? 0)
            for (const position of [last, ...positions.filter((one) => one < last)])
              for (const filter of [null, ROOTS]) {
                const expected = own.filter(
                  (call) => isThere(call, position) && (filter === null || (call.parent_id ?? null) === null),
                ).length
                const selection = { projectId, filter, operation: null, position: BigInt(position) }
                const { count } = await countCalls(clickHouse.reader)(selection, null)
                assert.equal(count, expected, JSON.stringify({ position, filter }))
              }
          }
        },
      ),
      { numRuns: COUNTS.mergedParts },
    )
  })

  it('reads no part of the table that it has read before', async () => {
    await fillCalls(clickHouse.writer, 'many/calls', 50_000)
    const counting = new EmbeddedConnection(engineDirectory)
    await counting.command({ query: `USE ${clickHouse.database}` })
    const selection = { projectId: 'many/calls', filter: null, operation: null, position: 500_000n }
    const read = () =>
      rowsReadBy(counting, clickHouse.reader, async (reader) => {
        assert.equal((await countCalls(reader)(selection, null)).count, 50_000)
      })
    assert.ok((await read()) >= 50_000)
    const again = await read()
    assert.ok(again < 10_000, `${again} rows were read`)
    await counting.close()
  })
})

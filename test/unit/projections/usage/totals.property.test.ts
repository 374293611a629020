import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ClickHouse, Rows } from '../../../../src/kernel/ports/clickhouse.js'
import { migrate } from '../../../../src/projections/migrate.js'
import {
  changedTraces,
  readAtState,
  readTotalsState,
  totalsOfTraces,
} from '../../../../src/projections/usage/totals-state.js'
import { withDescendants } from '../../../../src/projections/usage/queries.js'
import { runTotalsPass } from '../../../../src/projections/usage/totals-pass.js'
import { USAGE_TOTALS } from '../../../../src/projections/usage/tables.js'
import type { TotalsRow } from '../../../../src/projections/usage/totals.js'
import { sql } from '../../../../src/projections/sql.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { arbitraryUsageCase } from '../../../support/oracle/cases.js'
import { PROJECT } from '../../../support/oracle/given.js'
import { insertRows } from './handling.js'
import { Recorder } from './recorder.js'
import { TABLES } from './totals-service.js'

const CASES = COUNTS.usageTotals

/** What happens after each operation. */
const arbitrarySteps = fc.array(
  fc.record({
    /** Events are projected; the last batch again in smaller ones of this size, as after a crash. */
    isProjected: fc.boolean(),
    again: fc.constantFrom(0, 0, 5),
    /** A pass runs, and is killed before or after so many inserts. */
    pass: fc.constantFrom('none', 'none', 'whole', 'killed'),
    inserts: fc.nat(4),
    isKilledBefore: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
)

describe('totals of usage', () => {
  let clickHouse: ClickHouse

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  it(`are those of a computation from all facts, whenever passes run and are killed, in ${CASES} random cases`, async function () {
    this.timeout(0)
    const law = fc.asyncProperty(arbitraryUsageCase, arbitrarySteps, async ({ operations }, steps) => {
      const { reader, writer } = clickHouse
      for (const table of TABLES) await writer.command(`TRUNCATE TABLE ${table}`)
      const tables = { reader, insert: (rows: Rows) => writer.insert(rows) }
      let [batch, projected] = [0, 0]
      const project = async (again = 0) => {
        if (again > 0)
          for (let from = batch; from < projected; from += again)
            await insertRows(tables, recorder.events.slice(from, Math.min(from + again, projected)))
        await insertRows(tables, recorder.events.slice(projected))
        ;[batch, projected] = [projected, recorder.events.length]
      }
      const recorder: Recorder = new Recorder(PROJECT, async (ids) => {
        await project()
        return withDescendants(reader)(PROJECT, ids, recorder.head)
      })
      const reached = () => recorder.events[projected - 1]?.position ?? 0n

      for (const [index, operation] of operations.entries()) {
        await recorder.take(operation)
        const step = steps[index % steps.length]!
        if (step.isProjected) await project(step.again)
        if (step.pass === 'whole') await runTotalsPass(clickHouse, reached())
        if (step.pass === 'killed')
          await runTotalsPass(killedAfter(clickHouse, step), reached()).catch((error: unknown) =>
            assert.equal(String(error), 'Error: killed'),
          )
        if (index % 5 === 0) await assertReadable(reached())
      }
      await project()
      await assertReadable(reached())
      await runTotalsPass(clickHouse, reached())
      await runTotalsPass(clickHouse, reached())
      const { complete } = await readTotalsState(reader)
      assert.equal(complete, reached())
      assert.deepEqual(sorted(await storedRows(clickHouse, [])), await freshRows(clickHouse, complete))
      await assertReadable(complete)
      const early = recorder.events[Math.floor(recorder.events.length / 2)]
      if (early !== undefined) await assertReadable(early.position)
    })
    await fc.assert(law, { numRuns: CASES, endOnFailure: true })
  })

  /** The stored rows and those of open traces are the totals as of a position. */
  const assertReadable = async (position: bigint) => {
    const { reader } = clickHouse
    const result = await readAtState(reader, position, (changed) =>
      changedTraces(reader, PROJECT, changed, ALL),
    )
    const open = result!.answer
    const closed = open === null ? [] : await storedRows(clickHouse, open)
    const traces = open ?? (await tracesOf(clickHouse))
    const computed: TotalsRow[] = []
    for await (const rows of totalsOfTraces(reader, PROJECT, traces, position)) computed.push(...rows)
    assert.deepEqual(sorted([...closed, ...computed]), await freshRows(clickHouse, position))
  }
})

const killedAfter = (
  { reader, writer }: ClickHouse,
  { inserts, isKilledBefore }: { readonly inserts: number; readonly isKilledBefore: boolean },
): Pick<ClickHouse, 'reader' | 'writer'> => {
  let left = inserts
  return {
    reader,
    writer: {
      command: (sql) => writer.command(sql),
      query: (sql, parameters) => writer.query(sql, parameters),
      insert: async (rows) => {
        if (left === 0 && isKilledBefore) throw new Error('killed')
        await writer.insert(rows)
        if (left === 0) throw new Error('killed')
        left -= 1
      },
    },
  }
}

const COLUMNS = USAGE_TOTALS.names.slice(0, -2)
const ALL = sql`project_id = ${PROJECT}`

const tracesOf = async ({ reader }: ClickHouse): Promise<readonly string[]> =>
  (await reader.query<{ trace_id: string }>('SELECT DISTINCT trace_id FROM usage_facts')).map(
    ({ trace_id }) => trace_id,
  )

const storedRows = async ({ reader }: ClickHouse, open: readonly string[]): Promise<readonly TotalsRow[]> => {
  const rows = await reader.query<Record<string, string | number | boolean>>(
    `SELECT ${COLUMNS.join(', ')} FROM usage_totals FINAL WHERE trace_id NOT IN {open:Array(String)}`,
    { open },
  )
  return rows.map((row) => COLUMNS.map((column) => row[column]!))
}

const freshRows = async (clickHouse: ClickHouse, position: bigint): Promise<readonly TotalsRow[]> => {
  const all: TotalsRow[] = []
  for (const trace of await tracesOf(clickHouse))
    for await (const rows of totalsOfTraces(clickHouse.reader, PROJECT, [trace], position)) all.push(...rows)
  return sorted(all)
}

const sorted = (rows: readonly TotalsRow[]): readonly TotalsRow[] =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

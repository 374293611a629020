import type { ClickHouse, Rows } from '../../../../src/kernel/ports/clickhouse.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { runTotalsPass } from '../../../../src/projections/usage/totals-pass.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { PROJECT } from '../../../support/oracle/given.js'
import type { Operation } from '../../../support/oracle/operations.js'
import { recording } from './handling.js'

/** The tables that usage and its totals are in. */
export const TABLES = ['usage_facts', 'usage_reporting', 'usage_totals', 'checkpoints', 'calls']

/** A project whose calls are recorded, projected and summed up; empty before each test of the current suite. */
export const totalsOfProject = () => {
  let opened: ClickHouse
  let current: ReturnType<typeof recording>
  before(async () => {
    opened = await openTestClickHouse()
    await migrate(opened.writer)
  })
  after(() => opened.close())
  const startLog = () => {
    const { reader, writer } = opened
    current = recording({ reader, insert: (rows: Rows) => writer.insert(rows) }, PROJECT)
  }
  beforeEach(async () => {
    for (const table of TABLES) await opened.writer.command(`TRUNCATE TABLE ${table}`)
    startLog()
  })
  return {
    clickHouse: () => opened,
    /** The next events are those of another log. */
    startLog,
    head: () => current.recorder.head,
    given: async (...operations: readonly Operation[]): Promise<bigint> => {
      for (const operation of operations) await current.recorder.take(operation)
      await current.project()
      return current.recorder.head
    },
    pass: () => runTotalsPass(opened, current.recorder.head),
  }
}

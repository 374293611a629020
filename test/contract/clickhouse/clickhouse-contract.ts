import assert from 'node:assert/strict'
import type { ClickHouse } from '../../../src/kernel/ports/clickhouse.js'
import { migrate } from '../../../src/projections/migrate.js'
import { describeInserting } from './inserting.js'
import { describeParameters } from './parameters.js'
import { describeStreaming } from './streaming.js'

/** Opens a database of its own. */
export type Open = () => Promise<ClickHouse>

/** What the service relies on, whatever engine stands behind the port. */
export const describeClickHouse = (open: Open): void => {
  let clickHouse: ClickHouse
  before(async () => (clickHouse = await open()))
  after(() => clickHouse.close())
  const opened = () => clickHouse

  describeParameters(opened)
  describeInserting(opened)
  describeStreaming(opened)

  it('makes the tables of the service, and leaves them alone the second time', async () => {
    await migrate(clickHouse.writer)
    const row = { table: 'quarantine', columns: ['reason'], values: [['here']] }
    await clickHouse.writer.insert(row)
    await migrate(clickHouse.writer)
    const kept = await clickHouse.reader.query("SELECT reason FROM quarantine WHERE reason = 'here'")
    assert.deepEqual(kept, [{ reason: 'here' }])
  })

  it('takes no statement for another engine, database or table than its own', async () => {
    await assert.rejects(clickHouse.reader.query('SELECT * FROM nowhere'), { code: '60' })
    await assert.rejects(clickHouse.reader.query('SELECT nothing'), { code: '47' })
    assert.deepEqual(await clickHouse.reader.query('SELECT 1 AS one'), [{ one: 1 }])
  })
}

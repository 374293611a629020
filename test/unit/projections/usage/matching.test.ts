import assert from 'node:assert/strict'
import type { ClickHouse } from '../../../../src/domain/ports/clickhouse.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { matchingCalls } from '../../../../src/projections/usage/matching.js'
import { openTestClickHouse } from '../../../support/engine.js'

const PROJECT = 'default/collisions'
const CALLS = 1000

describe('the hashes of matching calls', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  it('are spread when a client chose ids whose unkeyed hashes fall into one of 256 places', async () => {
    await clickHouse.writer.command(
      `INSERT INTO calls (project_id, trace_id, id, op_name, started_at, started_position)
      SELECT '${PROJECT}', 'trace', toString(number), 'op', now(), 1 FROM numbers(1000000)
      WHERE bitAnd(xxHash32(toString(number)), 255) = 0 LIMIT ${CALLS}`,
    )
    const asked = { projectId: PROJECT, filter: null, operation: null, position: 1n }
    const { calls } = await matchingCalls(clickHouse.reader, asked, CALLS)
    const places = new Set(calls.map(({ hash }) => hash & 255))
    assert.equal(calls.length, CALLS)
    assert.ok(places.size > 200, `${places.size} places`)
  })
})

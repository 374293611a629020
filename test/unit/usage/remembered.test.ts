import assert from 'node:assert/strict'
import type { ClickHouse, ClickHouseReader } from '../../../src/domain/ports/clickhouse.js'
import { migrate } from '../../../src/projections/migrate.js'
import { NO_FILTER } from '../../../src/projections/calls/queries.js'
import { usageFrom } from '../../../src/projections/usage/queries.js'
import { openTestClickHouse } from '../../support/engine.js'

const PROJECT = 'large/traces'
const CALLS = 6000
const ROOT = 'call-0'

describe('the usage of a call of a large trace', () => {
  let clickHouse: ClickHouse
  let asked: string[]
  let reader: ClickHouseReader

  const given = async (from: number, to: number, position: number): Promise<void> => {
    const common = `'${PROJECT}' AS project_id, 'trace' AS trace_id, concat('call-', toString(number))`
    const parent = `if(number = 0, '', '${ROOT}')`
    const at = `toDateTime64('2026-01-01 00:00:00', 6, 'UTC')`
    const numbers = `FROM numbers(${from}, ${to - from})`
    await clickHouse.writer.command(`INSERT INTO usage_facts SELECT ${common}, ${position}, ${position},
      ${position}, 0, ${parent}, ${at}, ${at}, '', NULL, ['m'], [1, 10, 0, 5, 0, 0, 0, 0] ${numbers}`)
    await clickHouse.writer.command(`INSERT INTO calls
      (project_id, trace_id, id, parent_id, op_name, started_at, started_position)
      SELECT ${common}, nullIf(${parent}, ''), 'op', ${at}, ${position} ${numbers}`)
    await clickHouse.writer.command(
      `INSERT INTO call_index SELECT project_id, id, assumeNotNull(trace_id), started_at, 1 FROM calls`,
    )
  }

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    await given(0, CALLS, 1)
    asked = []
    const note = (sql: string) => void asked.push(sql)
    reader = {
      query: (sql, parameters) => (note(sql), clickHouse.reader.query(sql, parameters)),
      stream: (sql, parameters) => (note(sql), clickHouse.reader.stream(sql, parameters)),
    }
  })
  after(() => clickHouse.close())

  const question = (position: bigint) => ({
    projectId: PROJECT,
    filter: { ...NO_FILTER, call_ids: [ROOT] },
    operation: null,
    limit: 10,
    position,
    maxTraceCalls: 1_000_000,
  })
  const requests = (answer: Awaited<ReturnType<ReturnType<typeof usageFrom>>>) =>
    answer.answered.filter(({ size }) => size > 0).map(({ size, inclusive }) => [size, inclusive.values[0]])

  it('is answered without the engine where nothing has happened since, and anew where something has', async () => {
    let tables = 'these'
    const usage = usageFrom(reader, () => tables)
    assert.deepEqual(requests(await usage(question(1n))), [[1, CALLS]])

    asked.length = 0
    assert.deepEqual(requests(await usage(question(1n))), [[1, CALLS]])
    assert.deepEqual(asked, [])

    await given(CALLS, CALLS + 1, 2)
    assert.deepEqual(requests(await usage(question(2n))), [[1, CALLS + 1]])
    assert.deepEqual(requests(await usage(question(1n))), [[1, CALLS]])
    assert.deepEqual(requests(await usage(question(0n))), [])

    tables = 'others'
    asked.length = 0
    assert.deepEqual(requests(await usage(question(2n))), [[1, CALLS + 1]])
    assert.notEqual(asked.length, 0)
  })

  it('of which nobody knows is asked for every time', async () => {
    const usage = usageFrom(reader)
    for (const round of [1, 2]) {
      asked.length = 0
      const filter = { ...NO_FILTER, call_ids: ['nobody'] }
      assert.deepEqual(requests(await usage({ ...question(1n), filter })), [], String(round))
      assert.notEqual(asked.length, 0)
    }
  })
})

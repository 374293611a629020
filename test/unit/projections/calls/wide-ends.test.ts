import assert from 'node:assert/strict'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import type { Operation } from '../../../../src/domain/query/expression.js'
import { callsProjection } from '../../../../src/projections/calls/project.js'
import { callIds } from '../../../../src/projections/calls/pages.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { eventsOfCalls } from '../../../support/expression/events-of-calls.js'

const PROJECT = 'wide/ends'
const START = { started: 1, at: 1_767_225_600_000_000, op_name: 'op', trace_id: 'trace', display_name: null }
const NOTHING = { parent_id: null, thread_id: null, wb_user_id: null, wb_run_id: null, wb_run_step: null }
const WIDE = 100_000_000_000_000_000_000
const END = { position: 9, at: START.at, exception: null, output: { a: WIDE }, summary: { b: WIDE } }

/** JSON with integers of more than 64 bits is read by way of a function of its own. */
describe('an end with wide numbers', () => {
  let clickHouse: ClickHouse

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    const ofCall = { project_id: PROJECT, id: 'call', attributes: {}, inputs: {} }
    const later = { end: END, renamed: null, deleted: null, feedback: [] }
    const events = eventsOfCalls([{ ...ofCall, ...START, ...NOTHING, ...later }])
    for (const rows of callsProjection.rowsOf(events)) await clickHouse.writer.insert(rows)
  })
  after(() => clickHouse.close())

  const found = (operation: Operation, position: bigint) => {
    const asked = { projectId: PROJECT, filter: null, operation, position }
    return callIds(clickHouse.reader)({ ...asked, sortBy: [], limit: null, offset: null })
  }

  for (const field of ['output', 'summary'])
    it(`is not seen in ${field} as of a position before it`, async () => {
      const isThere: Operation = { $and: [{ $getField: field }] }
      assert.equal((await found(isThere, 9n)).length, 1)
      assert.equal((await found(isThere, 8n)).length, 0)
    })
})

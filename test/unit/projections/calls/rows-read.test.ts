import assert from 'node:assert/strict'
import { EmbeddedConnection } from '../../../../src/adapters/clickhouse/embedded-connection.js'
import type { ClickHouse, ClickHouseReader } from '../../../../src/kernel/ports/clickhouse.js'
import type { Operation } from '../../../../src/domain/query/expression.js'
import { callIds } from '../../../../src/projections/calls/pages.js'
import { countCalls } from '../../../../src/projections/calls/count.js'
import { NO_FILTER, type CallsFilter } from '../../../../src/projections/calls/filter.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { engineDirectory, openTestClickHouse } from '../../../support/engine.js'
import { fillCalls, someCall } from '../../../support/many-calls.js'
import { rowsReadBy } from '../../../support/rows-read.js'

const PROJECT = 'many/calls'
const CALLS = 200_000

interface Some {
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string
}

describe('a filter over many calls', () => {
  let clickHouse: ClickHouse
  let counting: EmbeddedConnection
  let some: Some

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    await fillCalls(clickHouse.writer, PROJECT, CALLS)
    counting = new EmbeddedConnection(engineDirectory)
    await counting.command({ query: `USE ${clickHouse.database}` })
    some = (await clickHouse.reader.query<Some>(someCall(PROJECT)))[0]!
  })
  after(async () => {
    await counting.close()
    await clickHouse.close()
  })

  const rowsRead = (task: (reader: ClickHouseReader) => Promise<unknown>) =>
    rowsReadBy(counting, clickHouse.reader, task)

  const asked = (filter: Partial<CallsFilter> | null, operation: Operation | null = null) => ({
    projectId: PROJECT,
    filter: filter === null ? null : { ...NO_FILTER, ...filter },
    operation,
    position: BigInt(10 * CALLS),
  })
  const page = { sortBy: [{ field: 'started_at', direction: 'asc' as const }], limit: null, offset: null }
  const equal = (field: string, value: string): Operation => ({
    $eq: [{ $getField: field }, { $literal: value }],
  })

  const ways: readonly (readonly [string, number, () => ReturnType<typeof asked>])[] = [
    ['a call', 1, () => asked({ call_ids: [some.id] })],
    ['a trace', 50, () => asked({ trace_ids: [some.trace_id] })],
    ['a parent', 7, () => asked({ parent_ids: [some.parent_id] })],
    ['a call, in a query', 1, () => asked(null, equal('id', some.id))],
    ['a trace, in a query', 50, () => asked(null, equal('trace_id', some.trace_id))],
    ['a parent, in a query', 7, () => asked(null, equal('parent_id', some.parent_id))],
    [
      'calls of a list or a trace and more, in a query',
      2,
      () =>
        asked(null, {
          $and: [
            { $in: [{ $getField: 'trace_id' }, [{ $literal: some.trace_id }, { $literal: 'trace-1' }]] },
            { $eq: [{ $getField: 'parent_id' }, { $literal: null }] },
          ],
        }),
    ],
  ]
  for (const [name, count, way] of ways)
    it(`by ${name} reads less than half of them`, async () => {
      const read = await rowsRead(async (reader) => {
        const found = await callIds(reader)({ ...way(), ...page })
        assert.ok(Math.abs(found.length - count) <= 1, `${found.length} calls were found`)
      })
      assert.ok(read < CALLS / 2, `${read} rows were read`)
    })

  it('by nothing reads them all, so that the others were counted', async () => {
    const read = await rowsRead((reader) => countCalls(reader)(asked(null), null))
    assert.ok(read >= CALLS, `${read} rows were read`)
  })
})

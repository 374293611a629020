import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { query } from '../../../../src/domain/query/query.js'
import { compileCondition } from '../../../../src/projections/expression/compile.js'
import { JSON_SETTINGS, readableJson } from '../../../../src/projections/expression/readable-json.js'
import type { Fields } from '../../../../src/projections/expression/fields.js'
import { raw, select, sql, typed, type Sql } from '../../../../src/projections/sql.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { arbitraryOperation, arbitraryRow } from '../../../support/expression/arbitrary.js'
import { isRefused } from '../../../support/expression/refused.js'
import { evaluate, type Row } from '../../../support/expression/evaluate.js'

const FIELDS: Fields = {
  name: { kind: 'text', sql: 'name' },
  steps: { kind: 'number', sql: 'steps' },
  at: { kind: 'instant', sql: 'at' },
  payload: { kind: 'json', sql: 'readable' },
}

const ROWS_A_RUN = 10
const RUNS = COUNTS.expressionMeanings

describe('the meaning of a query', () => {
  let clickHouse: ClickHouse
  let inserted = 0

  before(async () => {
    clickHouse = await openTestClickHouse()
    await clickHouse.writer.command(
      `CREATE TABLE rows (number UInt32, name Nullable(String), steps Nullable(Int64),
      at Nullable(DateTime64(6, 'UTC')), payload Nullable(String)) ENGINE = MergeTree ORDER BY number`,
    )
  })
  after(() => clickHouse.close())

  const insert = async (rows: readonly Row[]): Promise<number> => {
    const first = inserted
    inserted += rows.length
    await clickHouse.writer.insert({
      table: 'rows',
      columns: ['number', 'name', 'steps', 'at', 'payload'],
      values: rows.map(({ name, steps, at, payload }, i) => [
        first + i,
        name,
        steps,
        at === null ? null : printed(at),
        payload,
      ]),
    })
    return first
  }

  it('is the same in ClickHouse as in a plain evaluation, row by row, in all three values', async () => {
    let cases = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryRow, { minLength: ROWS_A_RUN, maxLength: ROWS_A_RUN }),
        arbitraryOperation.filter((one) => !isRefused(one, FIELDS)),
        async (rows, operation) => {
          assert.ok(query.is({ $expr: operation }))
          const first = await insert(rows)
          const truth = compileCondition(operation, FIELDS)
          const [from, to] = [first, first + rows.length].map((number) => typed('UInt32', number)) as [
            Sql,
            Sql,
          ]
          const answers = await select<{ truth: number | boolean | null }>(
            clickHouse.reader,
            sql`WITH ${raw(readableJson('payload'))} AS readable SELECT ${truth} AS truth FROM rows
            WHERE number >= ${from} AND number < ${to} ORDER BY number SETTINGS ${raw(JSON_SETTINGS)}`,
          )
          cases += rows.length
          assert.deepEqual(
            answers.map(({ truth }) => (truth === null ? null : Boolean(truth))),
            rows.map((row) => evaluate(operation, row)),
            JSON.stringify(operation),
          )
        },
      ),
      { numRuns: RUNS, endOnFailure: false },
    )
    assert.ok(cases >= RUNS * ROWS_A_RUN)
  })
})

const printed = (microseconds: number): string => {
  const milliseconds = Math.floor(microseconds / 1000)
  const rest = String(microseconds - milliseconds * 1000).padStart(3, '0')
  return `${new Date(milliseconds).toISOString().slice(0, 23).replace('T', ' ')}${rest}`
}

import assert from 'node:assert/strict'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { compileCondition } from '../../../../src/projections/expression/compile.js'
import { JSON_SETTINGS } from '../../../../src/projections/expression/readable-json.js'
import { raw, select, sql } from '../../../../src/projections/sql.js'
import { openTestClickHouse } from '../../../support/engine.js'

const FIELDS = { name: { kind: 'text', sql: 'name' }, payload: { kind: 'json', sql: 'payload' } } as const

const ROWS = 200_000
/** A copy of the literal for each row of a block would take 650 MB. */
const LITERAL = 'x'.repeat(10_000)
const MEMORY = 100_000_000

describe('a literal that a text is to contain', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await clickHouse.writer.command(
      'CREATE TABLE texts (name Nullable(String), payload Nullable(String)) ENGINE = MergeTree ORDER BY tuple()',
    )
    await clickHouse.writer.command(
      `INSERT INTO texts SELECT toString(number), concat('{"text":"', toString(number), '"}') FROM numbers(${ROWS})`,
    )
  })
  after(() => clickHouse.close())

  for (const $getField of ['name', 'payload.text'])
    for (const operator of ['$contains', '$containsToken'])
      it(`is not copied for each row: ${operator} in ${$getField}`, async () => {
        const spec = { input: { $getField }, substr: { $literal: LITERAL }, case_insensitive: true }
        const operation = operator === '$contains' ? { $contains: spec } : { $containsToken: spec }
        const rows = await select(
          clickHouse.reader,
          sql`SELECT count() AS total FROM texts WHERE ${compileCondition(operation, FIELDS)}
          SETTINGS ${raw(`${JSON_SETTINGS}, max_memory_usage = ${MEMORY}`)}`,
        )
        assert.deepEqual(rows, [{ total: 0 }])
      })
})

import assert from 'node:assert/strict'
import { EmbeddedConnection } from '../../../../src/adapters/clickhouse/embedded-connection.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import type { Operation } from '../../../../src/domain/query/expression.js'
import {
  countFeedback,
  feedbackBytes,
  feedbackIds,
  feedbackOn,
} from '../../../../src/projections/feedback/queries.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { engineDirectory, openTestClickHouse } from '../../../support/engine.js'
import { rowsReadBy } from '../../../support/rows-read.js'

const projectId = 'much/feedback'
const FEEDBACK = 200_000
const REF = `weave:///${projectId}/call/4321`
const position = BigInt(FEEDBACK)

describe('a query for the feedback on one call among many', () => {
  let clickHouse: ClickHouse
  let counting: EmbeddedConnection

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    await clickHouse.writer.command(
      `INSERT INTO feedback (project_id, id, weave_ref, feedback_type, payload, created_at, given_position)
      SELECT '${projectId}', hex(sipHash64(number)), concat('weave:///${projectId}/call/', toString(number)), 'custom',
        '{"a":1}', now64(6), number FROM numbers(${FEEDBACK})`,
    )
    counting = new EmbeddedConnection(engineDirectory)
    await counting.command({ query: `USE ${clickHouse.database}` })
  })
  after(async () => {
    await counting.close()
    await clickHouse.close()
  })

  const onRef = { $eq: [{ $getField: 'weave_ref' }, { $literal: REF }] } satisfies Operation
  const custom = { $eq: [{ $getField: 'feedback_type' }, { $literal: 'custom' }] } satisfies Operation
  const operations: Readonly<Record<string, Operation>> = {
    $eq: onRef,
    $and: { $and: [custom, onRef] },
    $in: { $in: [{ $getField: 'weave_ref' }, [{ $literal: REF }, { $literal: 'none' }]] },
  }
  const selections = Object.entries(operations).map(([name, operation]) => ({
    name,
    selection: { projectId, operation, position },
  }))

  const readsFew = async (task: Parameters<typeof rowsReadBy>[2]) => {
    const rows = await rowsReadBy(counting, clickHouse.reader, task)
    assert.ok(rows < FEEDBACK / 4, `${rows} rows read`)
  }

  for (const { name, selection } of selections)
    it(`reads few rows for weave_ref in ${name}`, async () => {
      const page = { ...selection, order: [], limit: 10, offset: null }
      await readsFew(async (reader) => assert.equal((await feedbackIds(reader)(page)).length, 1))
      await readsFew(async (reader) => assert.equal(await countFeedback(reader)(selection), 1))
    })

  it('reads few rows for the feedback of given calls', async () => {
    await readsFew(async (reader) => {
      assert.deepEqual([...(await feedbackOn(reader)(projectId, [REF], position)).keys()], [REF])
    })
    await readsFew(async (reader) => {
      assert.deepEqual([...(await feedbackBytes(reader)(projectId, [REF], position)).values()], [7])
    })
  })
})

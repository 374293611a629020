import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ClickHouse, Rows } from '../../../../src/kernel/ports/clickhouse.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { runTotalsPass } from '../../../../src/projections/usage/totals-pass.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { arbitraryUsageCase, inProject } from '../../../support/oracle/cases.js'
import { answer } from '../../../support/oracle/oracle.js'
import { answersOf, arbitraryHandling } from './handling.js'

const CASES = COUNTS.usageAnswers

/** Each insert is synced, so few at a time. */
const inLargerBatches = arbitraryHandling.map(({ batch, again, ...rest }) => ({
  ...rest,
  batch: batch + 15,
  again: again === 0 ? 0 : again + 15,
}))

describe('usage queries', () => {
  let clickHouse: ClickHouse

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })

  after(() => clickHouse.close())

  it(`answer what the oracle says in ${CASES} random cases`, async function () {
    this.timeout(0)
    const { reader, writer } = clickHouse
    const tables = {
      reader,
      insert: (rows: Rows) => writer.insert(rows),
      sumUp: (projected: bigint) => runTotalsPass(clickHouse, projected),
    }
    let projects = 0
    const law = fc.asyncProperty(arbitraryUsageCase, inLargerBatches, async (usageCase, handling) => {
      const projectId = `team/project-${(projects += 1)}`
      const moved = inProject(projectId, usageCase)
      // Each log begins at position 1, so the totals of one are not those of the next.
      for (const table of ['checkpoints', 'usage_facts']) await writer.command(`TRUNCATE TABLE ${table}`)
      for (const asked of await answersOf(tables, moved, handling, projectId))
        assert.deepEqual(asked.answer, answer(asked.known, moved.question))
    })
    await fc.assert(law, { numRuns: CASES })
  })
})

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { COUNTS } from '../../counts.js'
import { arbitraryUsageCase } from '../../support/oracle/cases.js'
import { PROJECT } from '../../support/oracle/given.js'
import { answer } from '../../support/oracle/oracle.js'
import { answersOf, arbitraryHandling } from './handling.js'
import { pretendedTables } from './pretended-tables.js'

const CASES = COUNTS.usageRollups

const few = (max: number) => fc.oneof(fc.constant(65_536), fc.integer({ min: 1, max }))

describe('usage with all descendants', () => {
  it(`is what the oracle says in ${CASES} random cases`, async function () {
    this.timeout(0)
    const law = fc.asyncProperty(
      arbitraryUsageCase,
      arbitraryHandling,
      fc.record({ blockRows: few(10), chunkBytes: few(2000) }),
      async (usageCase, handling, { blockRows, chunkBytes }) => {
        const tables = pretendedTables(blockRows, chunkBytes)
        for (const asked of await answersOf(tables, usageCase, handling, PROJECT))
          assert.deepEqual(asked.answer, answer(asked.known, usageCase.question))
      },
    )
    await fc.assert(law, { numRuns: CASES })
  })
})

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { arbitraryUsageCase } from '../support/oracle/cases.js'
import { answer } from '../support/oracle/oracle.js'
import { arbitraryHandling, knownOperations, serviceAnswer } from './handling.js'
import { pretendedTables } from './pretended-tables.js'

const CASES = Number(process.env['TALLYTREE_USAGE_CASES'] ?? 20_000)

describe('usage with all descendants', () => {
  it(`is what the oracle says in ${CASES} random cases`, async function () {
    this.timeout(0)
    const blockRows = fc.oneof(fc.constant(65_536), fc.integer({ min: 1, max: 10 }))
    const chunkBytes = fc.oneof(fc.constant(65_536), fc.integer({ min: 1, max: 2000 }))
    const property = fc.asyncProperty(
      arbitraryUsageCase,
      arbitraryHandling,
      blockRows,
      chunkBytes,
      async (usageCase, handling, rows, bytes) => {
        const actual = await serviceAnswer(pretendedTables(rows, bytes), usageCase, handling)
        assert.deepEqual(actual, answer(knownOperations(usageCase, handling), usageCase.question))
      },
    )
    await fc.assert(property, { numRuns: CASES })
  })
})

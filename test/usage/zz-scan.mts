import assert from 'node:assert/strict'
import fc from 'fast-check'
import { arbitraryUsageCase } from '../support/oracle/cases.js'
import { answer } from '../support/oracle/oracle.js'
import { arbitraryHandling, knownOperations, serviceAnswer } from './handling.js'
import { pretendedTables } from './pretended-tables.js'
const ignore = new Set((process.env.IGNORE ?? '').split(','))
const norm = (a: any) => ({
  ...a,
  ...(ignore.has('below') ? { unfinished_descendants: 0 } : {}),
  ...(ignore.has('sort') ? { unfinished_call_ids: [...a.unfinished_call_ids].sort() } : {}),
  ...(ignore.has('usage') ? { call_usage: Object.keys(a.call_usage).sort() } : {}),
})
let n = 0
const t = Date.now()
const r = await fc.check(
  fc.asyncProperty(
    arbitraryUsageCase,
    arbitraryHandling,
    fc.constantFrom(65536, 1, 3, 7),
    fc.constantFrom(65536, 7, 64, 2000),
    async (c, h, rr, b) => {
      n++
      assert.deepEqual(
        norm(await serviceAnswer(pretendedTables(rr, b), c, h)),
        norm(answer(knownOperations(c, h), c.question)),
      )
    },
  ),
  { numRuns: Number(process.env.N ?? 3000), ...(process.env.SEED ? { seed: Number(process.env.SEED) } : {}) },
)
console.log(r.failed ? await fc.asyncDefaultReportMessage(r) : 'ok', n, Date.now() - t)
if (r.failed) console.log(r.errorInstance?.message)

import assert from 'node:assert/strict'
import { timedOut } from '../../../../src/api/server/respond.js'

describe('a read that timed out', () => {
  it('may be repeated if the machine was busy, and is to be narrowed otherwise', () => {
    const { kind, details } = timedOut(2.5)
    assert.deepEqual([kind, details.retryAfter], ['overloaded', 10])
    assert.equal(timedOut(1).kind, 'too-slow')
  })
})

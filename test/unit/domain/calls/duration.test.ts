import assert from 'node:assert/strict'
import fc from 'fast-check'
import { durationMs, durationSeconds } from '../../../../src/domain/calls/duration.js'
import { instantOf } from '../../../../src/kernel/codec/instant.js'

const instant = fc.date({ min: new Date('1900-01-01'), max: new Date('2299-12-31'), noInvalidDate: true })

describe('the duration of a call', () => {
  it('is the time from start to end, and null when the end is before the start', () =>
    fc.assert(
      fc.property(instant, instant, (start, end) => {
        const ms = end < start ? null : end.getTime() - start.getTime()
        assert.equal(durationMs(instantOf(start), instantOf(end)), ms)
        assert.equal(durationSeconds(instantOf(start), instantOf(end)), ms === null ? null : ms / 1000)
      }),
    ))
})

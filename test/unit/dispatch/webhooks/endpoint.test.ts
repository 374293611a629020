import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  afterAttempt,
  afterUnknown,
  hasRecovered,
  heeding,
  leaveOf,
  unknownEndpoint,
  whileProbing,
  type Endpoint,
  type Seen,
} from '../../../../src/dispatch/webhooks/endpoint.js'

const succeeded: Seen = { receiverUp: true, timedOut: false, overloaded: false, throttledUntil: null }
const failed: Seen = { ...succeeded, receiverUp: false }
const busy: Seen = { ...failed, overloaded: true }
const timedOut: Seen = { ...busy, timedOut: true }

const after = (seen: readonly Seen[], now = 0, from = unknownEndpoint): Endpoint =>
  seen.reduce((endpoint, one) => afterAttempt(endpoint, one, now), from)
const times = <A>(count: number, value: A): readonly A[] => Array.from({ length: count }, () => value)

describe('what an endpoint bears', () => {
  it('begins with four at once, grows to sixteen, and is halved by too much', () => {
    assert.equal(unknownEndpoint.limit, 4)
    const grown = after(times(500, succeeded))
    assert.equal(grown.limit, 16)
    assert.equal(after([busy], 0, grown).limit, 8)
    assert.equal(after([failed], 0, grown).limit, 16)
    assert.equal(after(times(9, busy)).limit, 1)
  })

  it('has room for as many as the limit says', () => {
    assert.deepEqual(leaveOf(unknownEndpoint, 3, 0), { kind: 'send' })
    assert.deepEqual(leaveOf(unknownEndpoint, 4, 0), { kind: 'wait', until: undefined })
  })

  it('has one at a time after a time-out, until something else happens', () => {
    const hanging = after([timedOut])
    assert.deepEqual(leaveOf(hanging, 0, 0), { kind: 'send' })
    assert.deepEqual(leaveOf(hanging, 1, 0), { kind: 'wait', until: undefined })
    assert.equal(after([failed], 0, hanging).hangs, false)
  })

  it('is probed at once where the clock was set back while its breaker was open', () => {
    const open = after(times(10, failed), 3_600_000)
    assert.deepEqual(leaveOf(open, 0, 3_600_000), { kind: 'wait', until: 3_630_000 })
    assert.deepEqual(leaveOf(open, 0, 600_000), { kind: 'probe' })
  })

  it('is not throttled for longer than a Retry-After can ask when the clock was set back', () => {
    const day = 86_400_000
    const asked = heeding(unknownEndpoint, { throttledUntil: 10 * day, disables: false }, 9 * day)
    assert.equal(leaveOf(asked, 0, 9 * day - 1000).kind, 'wait')
    assert.deepEqual(leaveOf(asked, 0, day), { kind: 'send' })
  })

  it('gets nothing from when it has said so, or that it wants nothing any more', () => {
    const asked = heeding(unknownEndpoint, { throttledUntil: 5000, disables: false }, 1000)
    assert.deepEqual(leaveOf(asked, 0, 4999), { kind: 'wait', until: 5000 })
    const gone = heeding(unknownEndpoint, { throttledUntil: null, disables: true }, 1000)
    assert.equal(leaveOf(gone, 0, 1000).kind, 'wait')
    const neither = heeding(asked, { throttledUntil: null, disables: false }, 1000)
    assert.deepEqual(neither, asked)
  })

  it('gets nothing before the time that it asked for, a probe neither', () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 86_400_000 }), fc.boolean(), fc.nat(1e8), (until, open, now) => {
        const from = open ? after(times(10, failed)) : unknownEndpoint
        const leave = leaveOf(after([{ ...failed, throttledUntil: until }], 0, from), 0, now)
        if (now < until) assert.deepEqual(leave, { kind: 'wait', until })
      }),
    ))

  it('is probed once when its breaker has been open long enough, and recovers with the first limit', () => {
    const open = after(times(10, failed))
    assert.deepEqual(leaveOf(open, 0, 29_999), { kind: 'wait', until: 30_000 })
    assert.deepEqual(leaveOf(open, 0, 30_000), { kind: 'probe' })
    const probed = whileProbing(open)
    assert.deepEqual(leaveOf(probed, 1, 30_000), { kind: 'wait', until: undefined })
    const back = after([succeeded], 30_000, probed)
    assert.ok(hasRecovered(probed, back) && back.limit === 4)
    assert.deepEqual(leaveOf(afterUnknown(probed, 30_000), 0, 30_000), { kind: 'probe' })
  })

  /** The phase after attempts at one moment after another, by letters: `s` succeeds, `f` fails. */
  const phaseAfter = (outcomes: string, everyMs: number) =>
    Array.from(outcomes).reduce(
      (endpoint, outcome, index) =>
        afterAttempt(endpoint, outcome === 's' ? succeeded : failed, index * everyMs),
      unknownEndpoint,
    ).breaker.phase

  it('opens its breaker on ten failures in a row, however slowly they come', () => {
    assert.equal(phaseAfter('f'.repeat(9), 3_600_000), 'closed')
    assert.equal(phaseAfter('f'.repeat(10), 3_600_000), 'open')
    assert.equal(phaseAfter(`${'f'.repeat(9)}s${'f'.repeat(9)}`, 3_600_000), 'closed')
  })

  it('opens its breaker when 70 % of 20 attempts within a minute fail', () => {
    assert.equal(phaseAfter('ffsffsffsffsffsffsfs', 100), 'closed')
    assert.equal(phaseAfter('ffffsfffsfffsfffsffs', 100), 'closed')
    assert.equal(phaseAfter('ffffsfffsfffsfffsfff', 100), 'open')
    assert.equal(phaseAfter('ffffsfffsfffsfffsfff', 10_000), 'closed')
  })

  it('starts a new failure rate after recovering', () => {
    const open = after(times(10, failed))
    const back = after([succeeded], 30_000, whileProbing(open))
    assert.deepEqual(back.recent, [])
    assert.equal(after([succeeded], 0, open).breaker.phase, 'closed')
  })

  it('keeps the attempts of one minute at most', () =>
    fc.assert(
      fc.property(fc.array(fc.nat(5000), { maxLength: 300 }), (pauses) => {
        let now = 0
        let endpoint = unknownEndpoint
        for (const pause of pauses) endpoint = afterAttempt(endpoint, succeeded, (now += pause))
        assert.ok(endpoint.recent.length <= 60)
      }),
    ))

  it('is no worse for an outcome that nobody knows', () => {
    const before = after([succeeded, failed, busy])
    assert.deepEqual(afterUnknown(before, 5), before)
  })
})

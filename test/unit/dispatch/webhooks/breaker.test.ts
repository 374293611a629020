import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  afterFailure,
  afterSuccess,
  closed,
  probeToldNothing,
  probing,
  type Breaker,
} from '../../../../src/dispatch/webhooks/breaker.js'

/** What happens to a breaker at one moment after another, by letters: `s` succeeds, `f` fails. */
const after = (outcomes: string, everyMs: number, from: Breaker = closed): Breaker =>
  Array.from(outcomes).reduce(
    (breaker, outcome, index) =>
      outcome === 's' ? afterSuccess(breaker, index * everyMs) : afterFailure(breaker, index * everyMs),
    from,
  )

describe('the breaker of an endpoint', () => {
  it('opens on ten failures in a row, however slowly they come', () => {
    assert.equal(after('f'.repeat(9), 3_600_000).phase, 'closed')
    assert.equal(after('f'.repeat(10), 3_600_000).phase, 'open')
    assert.equal(after(`${'f'.repeat(9)}s${'f'.repeat(9)}`, 3_600_000).phase, 'closed')
  })

  it('opens on 70 % of 20 within a minute', () => {
    assert.equal(after('ffsffsffsffsffsffsfs', 100).phase, 'closed')
    assert.equal(after('ffffsfffsfffsfffsffs', 100).phase, 'closed')
    assert.equal(after('ffffsfffsfffsfffsfff', 100).phase, 'open')
    assert.equal(after('ffffsfffsfffsfffsfff', 10_000).phase, 'closed')
  })

  it('stays open twice as long each time the probe fails, up to ten minutes, and closes when it succeeds', () => {
    let breaker = after('f'.repeat(10), 0)
    const openedFor: number[] = []
    for (let times = 0; times < 7; times += 1) {
      assert.ok(breaker.phase === 'open')
      openedFor.push(breaker.openedFor / 1000)
      assert.equal(breaker.until, breaker.openedFor)
      breaker = afterFailure(probing(breaker), 0)
    }
    assert.deepEqual(openedFor, [30, 60, 120, 240, 480, 600, 600])
    assert.equal(afterSuccess(probing(breaker), 0).phase, 'closed')
  })

  it('lets another probe go at once when one told nothing', () => {
    const told = probeToldNothing(probing(after('f'.repeat(10), 0)), 40_000)
    assert.deepEqual(told, { phase: 'open', until: 40_000, openedFor: 30_000 })
  })

  it('remembers no more than a minute', () =>
    fc.assert(
      fc.property(fc.array(fc.nat(5000), { maxLength: 300 }), (pauses) => {
        let now = 0
        let breaker: Breaker = closed
        for (const pause of pauses) breaker = afterSuccess(breaker, (now += pause))
        assert.ok(breaker.phase === 'closed' && breaker.seconds.length <= 60)
      }),
    ))
})

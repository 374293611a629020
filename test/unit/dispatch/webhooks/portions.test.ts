import assert from 'node:assert/strict'
import { openPortions } from '../../../../src/dispatch/webhooks/portions.js'

/** Portions by a clock that is told. */
const opened = () => {
  let at = 0
  const portions = openPortions(() => at)
  return { portions, pass: (ms: number) => void (at += ms) }
}

describe('the portions of a team', () => {
  it('are large without rest where nobody else has anything', () => {
    const { portions } = opened()
    portions.hasLittle('big')
    portions.hasMuch('big')
    assert.deepEqual(portions.of('big'), { most: 64, restMs: 0 })
  })

  it('are large without rest where others have much too', () => {
    const { portions } = opened()
    portions.hasMuch('other')
    portions.hasMuch('big')
    assert.deepEqual(portions.of('big'), { most: 64, restMs: 0 })
  })

  it('are small at first while another team has little, then a few at a time with rests, for two seconds', () => {
    const { portions, pass } = opened()
    portions.hasMuch('big')
    const seen = []
    for (let ms = 0; ms <= 2000; ms += 5) {
      portions.hasLittle('small')
      seen.push(portions.of('big'))
      pass(5)
      portions.hasMuch('big')
    }
    assert.deepEqual(seen[0], { most: 4, restMs: 0 })
    assert.deepEqual(
      new Set(seen.slice(1, -1).map(({ most, restMs }) => `${most}, ${restMs}`)),
      new Set(['4, 6']),
    )
    assert.deepEqual(seen.at(-1), { most: 4, restMs: 0 })
  })

  it('have no rests any more once these did not suffice, until there was little for ten seconds', () => {
    const { portions, pass } = opened()
    const muchFor = (ms: number) => {
      portions.hasMuch('big')
      pass(ms)
      portions.hasLittle('small')
      const portion = portions.of('big')
      portions.caughtUp('big')
      return portion
    }
    assert.equal(muchFor(500).restMs, 6)
    pass(5000)
    assert.equal(muchFor(500).restMs, 6)
    assert.equal(muchFor(2000).restMs, 0)
    for (let again = 0; again < 20; again += 1) assert.equal(muchFor(1999).restMs, 0)
    pass(9990)
    assert.equal(muchFor(10).restMs, 6)
  })

  it('are large a second after the other team had something', () => {
    const { portions, pass } = opened()
    portions.hasMuch('big')
    portions.hasLittle('small')
    pass(1000)
    assert.equal(portions.of('big').most, 4)
    pass(1)
    assert.equal(portions.of('big').most, 64)
  })
})

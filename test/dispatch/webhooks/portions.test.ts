import assert from 'node:assert/strict'
import { openPortions } from '../../../src/dispatch/webhooks/portions.js'

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

  it('are one at a time, with rests, for a second while another team has little', () => {
    const { portions, pass } = opened()
    portions.hasMuch('big')
    for (let ms = 0; ms < 1000; ms += 100) {
      portions.hasLittle('small')
      assert.deepEqual(portions.of('big'), { most: 1, restMs: 2 })
      pass(100)
      portions.hasMuch('big')
    }
    portions.hasLittle('small')
    assert.deepEqual(portions.of('big'), { most: 4, restMs: 0 })
    portions.hasLittle('big')
    portions.hasMuch('big')
    assert.deepEqual(portions.of('big'), { most: 1, restMs: 2 })
  })

  it('are large a second after the other team had something', () => {
    const { portions, pass } = opened()
    portions.hasMuch('big')
    portions.hasLittle('small')
    pass(1000)
    portions.hasMuch('big')
    assert.equal(portions.of('big').most, 4)
    pass(1)
    assert.equal(portions.of('big').most, 64)
  })
})

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { sha256 } from '../../../../../src/adapters/system/system.js'
import { deliveryIdOf } from '../../../../../src/domain/webhooks/deliveries/id.js'

const id = fc.string({ minLength: 1 }).filter((text) => !/\p{Cc}/u.test(text))
const identity = fc.record({
  eventId: fc.uuid(),
  automationId: id,
  action: fc.nat(3),
  replayId: fc.oneof(fc.constant(''), id),
})

describe('the id of a delivery', () => {
  it('is one for each identity', () =>
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other)
        assert.equal(deliveryIdOf(sha256, one) === deliveryIdOf(sha256, other), same)
      }),
    ))

  it('is the SHA-256 in base32', () => {
    const given = { eventId: 'e', automationId: 'a', action: 0 }
    const bits = [...createHash('sha256').update('e\na\n0\n').digest()]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('')
    const letters = bits
      .match(/.{1,5}/g)!
      .map((five) => 'abcdefghijklmnopqrstuvwxyz234567'[parseInt(five.padEnd(5, '0'), 2)])
    assert.equal(deliveryIdOf(sha256, given), `dlv_${letters.join('')}`)
  })
})

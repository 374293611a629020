import assert from 'node:assert/strict'
import fc from 'fast-check'
import { keyIdOf, seal, unseal } from '../../../../src/adapters/secrets/envelope.js'
import { arbitrarySecret, arbitraryValue, ringOf, someKey } from './given.js'

const [one, other] = [someKey('one'), someKey('other')]
const ring = ringOf(one, other)
const secret = { team: 'team', name: 'TOKEN', version: 3 }

const isRefused = (open: () => string) => {
  assert.throws(open, { name: 'SecretUnreadable' })
}

describe('the envelope of a secret value', () => {
  it('gives back what it was made of, and shows nothing of it', () =>
    fc.assert(
      fc.property(arbitrarySecret, arbitraryValue, (named, value) => {
        const envelope = seal(ring.active(), named, value)
        assert.match(envelope, /^v1\.one\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/)
        assert.equal(unseal(ring.find, named, envelope), value)
        assert.equal(keyIdOf(envelope), 'one')
      }),
    ))

  it('is another one each time: no nonce is used twice', () => {
    const nonces = new Set<string>()
    for (let n = 0; n < 20_000; n += 1) nonces.add(seal(ring.active(), secret, 'value').split('.')[2]!)
    assert.equal(nonces.size, 20_000)
  })

  it('is refused with any bit of any byte changed, or with bytes missing or added', () => {
    const envelope = seal(ring.active(), secret, 'a value of some length, with ünïcode')
    for (let at = 0; at < envelope.length; at += 1)
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(envelope)
        changed[at]! ^= 1 << bit
        isRefused(() => unseal(ring.find, secret, changed.toString('latin1')))
      }
    for (let length = 0; length < envelope.length; length += 1)
      isRefused(() => unseal(ring.find, secret, envelope.slice(0, length)))
    for (const more of ['A', '=', '.', '.A', ' ', '\n'])
      isRefused(() => unseal(ring.find, secret, envelope + more))
  })

  it('opens for the team, name and version that it was made for alone', () =>
    fc.assert(
      fc.property(arbitrarySecret, arbitrarySecret, (made, asked) => {
        fc.pre(JSON.stringify(made) !== JSON.stringify(asked))
        const envelope = seal(ring.active(), made, 'value')
        for (const part of ['team', 'name', 'version'] as const)
          if (made[part] !== asked[part])
            isRefused(() => unseal(ring.find, { ...made, [part]: asked[part] }, envelope))
        isRefused(() => unseal(ring.find, asked, envelope))
      }),
    ))

  it('says which key it needs, and that a key is another one than before', () => {
    const envelope = seal(ring.active(), secret, 'value')
    assert.throws(() => unseal(ringOf(other).find, secret, envelope), {
      message:
        'version 3 of the secret TOKEN of team team is encrypted with the master key "one", which is not in the key ring',
    })
    assert.throws(() => unseal(ringOf(someKey('one')).find, secret, envelope), {
      message:
        /cannot be decrypted: the master key "one" differs from the original one, or the value is corrupt/,
    })
  })
})

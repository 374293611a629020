import assert from 'node:assert/strict'
import { randomKey } from '../../../../src/adapters/system/system.js'

/** How the package `wandb` checks a key: what follows its first `-` is the secret. */
const secretOf = (key: string): string => key.slice(key.indexOf('-') + 1)

describe('a new API key', () => {
  const keys = Array.from({ length: 5000 }, randomKey)

  it('is accepted by every version of the package wandb', () => {
    for (const key of keys) {
      assert.match(secretOf(key), /^[\w-]{40}$/)
      assert.match(key, /^tt_[A-Za-z0-9]{37}$/)
    }
  })

  it('is never made twice, and uses all letters and digits about equally', () => {
    assert.equal(new Set(keys).size, keys.length)
    const counts = new Map<string, number>()
    for (const sign of keys.map((key) => key.slice(3)).join('')) counts.set(sign, (counts.get(sign) ?? 0) + 1)
    assert.equal(counts.size, 62)
    const expected = (keys.length * 37) / 62
    for (const count of counts.values()) assert.ok(Math.abs(count - expected) < expected / 5)
  })
})

import assert from 'node:assert/strict'
import { textCache } from '../../../src/api/objects/text-cache.js'

describe('the cache of texts', () => {
  it('gives a text for the version it was made from alone', () => {
    const cache = textCache(1000)
    cache.put('a', 1n, 'one')
    assert.deepEqual(
      [cache.get('a', 1n), cache.get('a', 2n), cache.get('b', 1n)],
      ['one', undefined, undefined],
    )
    cache.put('a', 2n, 'two')
    assert.deepEqual([cache.get('a', 1n), cache.get('a', 2n)], [undefined, 'two'])
  })

  it('keeps to its bound, and lets go first what was asked for least recently', () => {
    const cache = textCache(1000)
    for (let i = 0; i < 200; i += 1) {
      cache.put(`key ${String(i).padStart(4, '0')}`, 1n, 'x')
      assert.equal(cache.get('key 0000', 1n), 'x')
    }
    const kept = Array.from({ length: 200 }, (_, i) => cache.get(`key ${String(i).padStart(4, '0')}`, 1n))
    assert.equal(kept.filter((text) => text !== undefined).length, Math.floor(1000 / 9))
    assert.equal(kept.at(-1), 'x')
  })

  it('does not take a text that would push out many others', () => {
    const cache = textCache(1000)
    cache.put('a', 1n, 'x'.repeat(10))
    assert.equal(cache.get('a', 1n), undefined)
  })
})

import assert from 'node:assert/strict'
import { versionedCache } from '../../../src/kernel/versioned-cache.js'

const texts = (most: number) =>
  versionedCache<string>({
    maxSize: most,
    sizeOf: (text, key) => key.length + text.length,
    maxEntrySize: most / 100,
  })

describe('a versioned cache', () => {
  it('returns a value only for its version', () => {
    const cache = texts(1000)
    cache.put('a', '1', 'one')
    assert.deepEqual(
      [cache.get('a', '1'), cache.get('a', '2'), cache.get('b', '1')],
      ['one', undefined, undefined],
    )
    cache.put('a', '2', 'two')
    assert.deepEqual([cache.get('a', '1'), cache.get('a', '2')], [undefined, 'two'])
  })

  it('evicts the least recently used value when it is full', () => {
    const cache = texts(1000)
    for (let i = 0; i < 200; i += 1) {
      cache.put(`key ${String(i).padStart(4, '0')}`, '1', 'x')
      assert.equal(cache.get('key 0000', '1'), 'x')
    }
    const kept = Array.from({ length: 200 }, (_, i) => cache.get(`key ${String(i).padStart(4, '0')}`, '1'))
    assert.equal(kept.filter((text) => text !== undefined).length, Math.floor(1000 / 9))
    assert.equal(kept.at(-1), 'x')
  })

  it('does not cache values over the maximum size of one', () => {
    const cache = texts(1000)
    cache.put('a', '1', 'x'.repeat(10))
    assert.equal(cache.get('a', '1'), undefined)
  })

  it('frees the space of dropped values', () => {
    const cache = versionedCache<string>({ maxSize: 2, sizeOf: (value) => value.length })
    cache.put('a', '1', 'x')
    cache.put('b', '1', 'y')
    cache.drop('a')
    cache.drop('nothing')
    cache.put('c', '1', 'z')
    assert.equal(cache.get('a', '1'), undefined)
    assert.deepEqual([cache.get('b', '1'), cache.get('c', '1')], ['y', 'z'])
  })
})

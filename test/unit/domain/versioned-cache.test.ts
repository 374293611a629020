import assert from 'node:assert/strict'
import { versionedCache } from '../../../src/domain/versioned-cache.js'

const texts = (most: number) =>
  versionedCache<string>({
    most,
    weightOf: (text, key) => key.length + text.length,
    isWorthKeeping: (_text, weight) => weight <= most / 100,
  })

describe('a cache of versions', () => {
  it('gives a text for the version it was made from alone', () => {
    const cache = texts(1000)
    cache.put('a', '1', 'one')
    assert.deepEqual(
      [cache.get('a', '1'), cache.get('a', '2'), cache.get('b', '1')],
      ['one', undefined, undefined],
    )
    cache.put('a', '2', 'two')
    assert.deepEqual([cache.get('a', '1'), cache.get('a', '2')], [undefined, 'two'])
  })

  it('keeps to its bound, and lets go first what was asked for least recently', () => {
    const cache = texts(1000)
    for (let i = 0; i < 200; i += 1) {
      cache.put(`key ${String(i).padStart(4, '0')}`, '1', 'x')
      assert.equal(cache.get('key 0000', '1'), 'x')
    }
    const kept = Array.from({ length: 200 }, (_, i) => cache.get(`key ${String(i).padStart(4, '0')}`, '1'))
    assert.equal(kept.filter((text) => text !== undefined).length, Math.floor(1000 / 9))
    assert.equal(kept.at(-1), 'x')
  })

  it('does not take what is not worth keeping', () => {
    const cache = texts(1000)
    cache.put('a', '1', 'x'.repeat(10))
    assert.equal(cache.get('a', '1'), undefined)
  })

  it('has nothing more of what was dropped, whose room others have', () => {
    const cache = versionedCache<string>({
      most: 2,
      weightOf: (value) => value.length,
      isWorthKeeping: () => true,
    })
    cache.put('a', '1', 'x')
    cache.put('b', '1', 'y')
    cache.drop('a')
    cache.drop('nothing')
    cache.put('c', '1', 'z')
    assert.equal(cache.get('a', '1'), undefined)
    assert.deepEqual([cache.get('b', '1'), cache.get('c', '1')], ['y', 'z'])
  })
})

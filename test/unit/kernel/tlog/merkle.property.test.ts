import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import {
  consistencyPath,
  growingTree,
  HASH_BYTES,
  inclusionPath,
  leafHash,
  rootAt,
  rootOfPath,
  widthOf,
  type ReadTile,
} from '../../../../src/kernel/tlog/merkle.js'
import { isConsistent } from '../../../support/witness.js'

const sha256 = (...parts: readonly Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()

/** MTH of RFC 6962, section 2.1, as it is written there. */
const naiveRoot = (entries: readonly Buffer[]): Buffer => {
  if (entries.length === 0) return sha256()
  if (entries.length === 1) return sha256(Buffer.from([0]), entries[0]!)
  let k = 1
  while (k * 2 < entries.length) k *= 2
  return sha256(Buffer.from([1]), naiveRoot(entries.slice(0, k)), naiveRoot(entries.slice(k)))
}

const entriesOf = (count: number) => Array.from({ length: count }, (_, n) => Buffer.from(`entry ${n}`))

/** A tree that was stopped and continued at some sizes, with the tiles that it wrote. */
const treeOf = (entries: readonly Buffer[], stops: ReadonlySet<number> = new Set()) => {
  const tiles = new Map<string, Uint8Array>()
  const read: ReadTile = (level, index) =>
    tiles.get(`${level}/${index}`) ?? assert.fail(`no ${level}/${index}`)
  let tree = growingTree(0, read)
  const keep = () => {
    for (const { level, index, hashes } of tree.changed()) tiles.set(`${level}/${index}`, hashes)
  }
  for (const [n, entry] of entries.entries()) {
    tree.add(leafHash(entry))
    if (!stops.has(n)) continue
    keep()
    tree = growingTree(n + 1, read)
  }
  keep()
  return { tree, tiles, read }
}

const size = fc.oneof(
  fc.integer({ min: 0, max: 600 }),
  fc.constantFrom(255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537),
)

describe('the Merkle tree', () => {
  it('has the root of RFC 6962 at each size, also after it was continued', () => {
    fc.assert(
      fc.property(size, fc.array(fc.nat(70_000)), (count, stops) => {
        const entries = entriesOf(count)
        const { tree, read } = treeOf(entries, new Set(stops))
        assert.equal(tree.size(), count)
        assert.deepEqual(tree.root(), naiveRoot(entries))
        assert.deepEqual(rootAt(count, read), naiveRoot(entries))
      }),
      { numRuns: 15 },
    )
  })

  it('has the roots of all earlier sizes in its tiles', () => {
    const entries = entriesOf(700)
    const { read } = treeOf(entries)
    for (let count = 0; count <= entries.length; count += count < 20 || count % 256 > 250 ? 1 : 7)
      assert.deepEqual(rootAt(count, read), naiveRoot(entries.slice(0, count)), String(count))
  })

  it('proves each entry, and no other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), fc.nat(), fc.nat(), (count, one, other) => {
        const entries = entriesOf(count)
        const { read } = treeOf(entries)
        const index = one % count
        const path = inclusionPath(index, count, read)
        const root = naiveRoot(entries)
        assert.deepEqual(rootOfPath(leafHash(entries[index]!), index, count, path), root)
        const wrong = other % count
        if (wrong === index) return
        assert.notDeepEqual(rootOfPath(leafHash(entries[wrong]!), index, count, path), root)
        assert.notDeepEqual(rootOfPath(leafHash(entries[index]!), wrong, count, path), root)
      }),
    )
  })

  it('proves that it continues each earlier size, and no other tree', () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (count, one, other) => {
        const entries = entriesOf(count)
        const { read } = treeOf(entries)
        const [first, wrong] = [one % (count + 1), other % (count + 1)]
        const head = (at: number) => ({ size: at, root: rootAt(at, read) })
        const proof = consistencyPath(first, count, read)
        assert.ok(isConsistent(head(first), head(count), proof))
        if (wrong !== first && wrong > 0 && first > 0)
          assert.ok(!isConsistent({ size: first, root: head(wrong).root }, head(count), proof))
      }),
      { numRuns: 15 },
    )
  })

  it('has tiles with the width that the specification gives', () => {
    const { tiles } = treeOf(entriesOf(66_000))
    for (const [name, hashes] of tiles) {
      const [level, index] = name.split('/').map(Number) as [number, number]
      assert.equal(hashes.length / HASH_BYTES, widthOf(level, index, 66_000), name)
    }
    assert.equal(tiles.size, 258 + 2 + 1)
  })
})

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import type { LogTree, SignedCheckpoint } from '../../../src/kernel/ports/log-tree.js'
import {
  growingTree,
  HASH_BYTES,
  inclusionPath,
  rootAt,
  rootOfPath,
  TILE_HASHES,
  withTiles,
  type GrowingTree,
} from '../../../src/kernel/tlog/merkle.js'

export interface LogTreeUnderTest {
  /** As at a start; the tree that was open before is closed. */
  readonly open: () => Promise<LogTree>
  readonly dispose: () => Promise<void>
}

const MINUTE = 60_000
const NOON = Date.UTC(2026, 5, 1, 12)

const leafAt = (n: number): Buffer => hash('sha256', `leaf ${n}`, 'buffer')

/** Positions have gaps. */
const positionAt = (leaf: number): bigint => BigInt(leaf) * 3n + 5n

export const checkpointOf = (size: number, ageMs = 0): SignedCheckpoint => ({
  size,
  signedAt: new Date(NOON - ageMs),
  note: `note of ${size}\n\n— log signature\n`,
})

/** Adds leaves up to a size, and saves them with a checkpoint. */
export const saveUpTo = async (tree: LogTree, grown: GrowingTree, size: number): Promise<void> => {
  const positions = new Map<number, bigint>()
  while (grown.size() < size) {
    positions.set(Math.floor(grown.size() / TILE_HASHES), positionAt(grown.size()))
    grown.add(leafAt(grown.size()))
  }
  await tree.save({ tiles: grown.changed(), positions, checkpoint: checkpointOf(size) })
}

export const continued = (tree: LogTree): Promise<GrowingTree> =>
  withTiles(tree.tile, (read) => growingTree(tree.size(), read))

export const logTreeContract = (given: () => Promise<LogTreeUnderTest>) => {
  let under: LogTreeUnderTest
  beforeEach(async () => (under = await given()))
  afterEach(() => under.dispose())

  it('is empty at first', async () => {
    const tree = await under.open()
    assert.deepEqual(
      [tree.size(), tree.position(), tree.latest(), tree.previous()],
      [0, 0n, undefined, undefined],
    )
    assert.deepEqual([...(await tree.checkpoints())], [])
    assert.equal(await tree.tileAt(1n), undefined)
    assert.equal(await tree.positionBefore(0), 0n)
  })

  it('has each leaf and position after steps of many sizes, with starts in between', async () => {
    const expected = growingTree(0, () => new Uint8Array())
    for (let n = 0; n < 66_500; n += 1) expected.add(leafAt(n))
    const sizes = [1, 2, 255, 256, 257, 600, 16_984, 33_000, 49_000, 65_536, 65_792, 66_500]
    for (const [n, size] of sizes.entries()) {
      const tree = await under.open()
      const grown = await continued(tree)
      await saveUpTo(tree, grown, size)
      // Several steps without a start.
      if (n % 3 === 0 && n + 1 < sizes.length) await saveUpTo(tree, grown, size + 1)
    }
    const tree = await under.open()
    const size = tree.size()
    assert.deepEqual(
      [size, tree.position(), tree.latest()],
      [66_500, positionAt(66_499), checkpointOf(66_500)],
    )
    assert.ok(expected.root().equals(await withTiles(tree.tile, (read) => rootAt(size, read))))
    for (const leaf of [0, 1, 255, 256, 300, 20_000, 65_535, 65_536, 66_303, 66_304, 66_499]) {
      const tile = Math.floor(leaf / TILE_HASHES)
      assert.equal(await tree.tileAt(positionAt(leaf)), tile)
      assert.equal(await tree.positionBefore(tile), tile === 0 ? 0n : positionAt(tile * TILE_HASHES - 1))
      const at = (leaf % TILE_HASHES) * HASH_BYTES
      assert.ok(leafAt(leaf).equals((await tree.tile(0, tile)).subarray(at, at + HASH_BYTES)))
      const path = await withTiles(tree.tile, (read) => inclusionPath(leaf, size, read))
      assert.ok(rootOfPath(leafAt(leaf), leaf, size, path)!.equals(expected.root()))
    }
    assert.equal(await tree.tileAt(positionAt(66_499) + 1n), undefined)
    await assert.rejects(async () => tree.tile(0, 500))
  }).timeout(60_000)

  it('keeps the last checkpoint of each minute, then of each hour, then of each day', async () => {
    const tree = await under.open()
    const HOUR = 60 * MINUTE
    const DAY = 24 * HOUR
    const ages = [
      50 * DAY,
      50 * DAY - HOUR,
      2 * DAY,
      2 * DAY - 10 * MINUTE,
      30 * MINUTE,
      30 * MINUTE - 1000,
      0,
    ]
    for (const [n, age] of ages.entries())
      await tree.save({ tiles: [], positions: new Map(), checkpoint: checkpointOf(n + 1, age) })
    assert.deepEqual(
      (await tree.checkpoints()).map(({ size }) => size),
      [2, 4, 6, 7],
    )
  })

  it('keeps the checkpoints of many minutes', async () => {
    const tree = await under.open()
    for (let n = 0; n < 100; n += 1)
      await tree.save({
        tiles: [],
        positions: new Map(),
        checkpoint: checkpointOf(n + 1, (100 - n) * MINUTE),
      })
    const again = await under.open()
    assert.deepEqual(
      (await again.checkpoints()).map(({ size, signedAt }) => [size, signedAt.getTime()]),
      Array.from({ length: 100 }, (_, n) => [n + 1, NOON - (100 - n) * MINUTE]),
    )
    assert.deepEqual(again.latest(), checkpointOf(100, MINUTE))
  }).timeout(60_000)

  it('keeps a cosigned checkpoint beside later ones of its minute, also one that was no longer kept', async () => {
    const tree = await under.open()
    const [first, second] = [checkpointOf(1, 2000), checkpointOf(2, 1000)]
    await tree.save({ tiles: [], positions: new Map(), checkpoint: first })
    await tree.cosign(first, '— witness line\n')
    await tree.save({ tiles: [], positions: new Map(), checkpoint: second })
    await tree.save({ tiles: [], positions: new Map(), checkpoint: checkpointOf(3) })
    await tree.cosign(second, '— witness line\n— other line\n')
    const again = await under.open()
    const notes = (await again.checkpoints()).map(({ size, note }) => [size, note.split('—').length - 1])
    assert.deepEqual(notes, [
      [1, 2],
      [2, 3],
      [3, 1],
    ])
    assert.equal(again.latest()?.size, 3)
  })
}

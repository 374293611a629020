import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BucketLog } from '../adapters/log-tree/bucket-log-tree.js'
import { openSqliteLogTree, type SqliteLogTree } from '../adapters/log-tree/sqlite-log-tree.js'
import type { LogKeys } from '../kernel/ports/log-keys.js'
import type { LogTree } from '../kernel/ports/log-tree.js'
import { TILE_HASHES, widthOf, type Tile } from '../kernel/tlog/merkle.js'

/** A tree that was in a bucket, and its keys. */
export interface CopiedLog {
  readonly tree: SqliteLogTree
  readonly keys: LogKeys
}

const AT_ONCE = 64

/** Copies a tree into a temporary file, which is deleted when it is closed, so that all of it can be read at once. */
export const copyTree = async ({ tree, keys }: BucketLog): Promise<CopiedLog> => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-tree-'))
  const copy = openSqliteLogTree(join(directory, 'log-tree.db'))
  const size = tree.size()
  for (let level = 0, tiles = tilesOf(level, size); tiles > 0; level += 1, tiles = tilesOf(level, size))
    for (let first = 0; first < tiles; first += AT_ONCE) {
      const count = Math.min(AT_ONCE, tiles - first)
      const copied = Array.from({ length: count }, (_, n) => copiedTile(tree, level, first + n))
      const read = await Promise.all(copied)
      const positions = new Map(read.map(({ index, position }) => [index, position]))
      await copy.save({ tiles: read, positions, checkpoint: undefined })
    }
  for (const checkpoint of await tree.checkpoints())
    await copy.save({ tiles: [], positions: new Map(), checkpoint })
  const close = () => {
    copy.close()
    void rm(directory, { recursive: true, force: true })
  }
  return { tree: { ...copy, named: tree.named, close }, keys }
}

const tilesOf = (level: number, size: number): number =>
  Math.ceil(Math.floor(size / TILE_HASHES ** level) / TILE_HASHES)

const copiedTile = async (
  tree: LogTree,
  level: number,
  index: number,
): Promise<Tile & { readonly position: bigint }> => {
  const width = widthOf(level, index, tree.size())
  const isLast = level > 0 || width < TILE_HASHES
  const position = isLast ? tree.position() : await tree.positionBefore(index + 1)
  return { level, index, hashes: Buffer.from(await tree.tile(level, index)), position }
}

import { hash } from 'node:crypto'

/** The Merkle tree of RFC 6962 with SHA-256, in tiles of 256 hashes (https://c2sp.org/tlog-tiles). */
export const HASH_BYTES = 32
export const TILE_HASHES = 256

/** Hashes of one level: of leaves at level 0, above of full tiles of the level below. The last tile of a level is partial. */
export interface Tile {
  readonly level: number
  readonly index: number
  readonly hashes: Buffer
}

/** The hashes of a tile: as many as the tree of the asked size needs, or more. */
export type ReadTile = (level: number, index: number) => Uint8Array

const UNREAD_TILE = new Uint8Array(TILE_HASHES * HASH_BYTES)

/** Runs `work` over tiles of a store that does not answer at once. Which tiles it reads must not depend on their hashes. */
export const withTiles = async <A>(
  tile: (level: number, index: number) => Uint8Array | Promise<Uint8Array>,
  work: (read: ReadTile) => A,
): Promise<A> => {
  const wanted = new Map<string, readonly [number, number]>()
  work((level, index) => {
    wanted.set(`${level}/${index}`, [level, index])
    return UNREAD_TILE
  })
  const read = await Promise.all(
    Array.from(wanted, async ([key, [level, index]]) => [key, await tile(level, index)] as const),
  )
  const tiles = new Map(read)
  return work((level, index) => tiles.get(`${level}/${index}`)!)
}

const LEAF = Buffer.from([0])
const scratch = Buffer.alloc(1 + 2 * HASH_BYTES, 1)

const sha256 = (content: Uint8Array): Buffer => hash('sha256', content, 'buffer')

const EMPTY_ROOT = sha256(new Uint8Array())

export const leafHash = (entry: Uint8Array): Buffer => sha256(Buffer.concat([LEAF, entry]))

/** The hash of a node, whose children are next to each other, in latin1: that takes half the time of a buffer. */
const nodeHash = (hashes: Buffer, at: number): string => {
  hashes.copy(scratch, 1, at, at + 2 * HASH_BYTES)
  return hash('sha256', scratch, 'binary')
}

/** The largest power of two below `count`, at which RFC 6962 splits a tree. */
const splitOf = (count: number): number => {
  let split = 1
  while (split * 2 < count) split *= 2
  return split
}

/**
 * The root over `count` hashes from `first` on: of leaves, or of complete subtrees of one size, of which the last may be
 * smaller.
 */
export const rootOver = (hashes: Uint8Array, first: number, count: number): Buffer => {
  const nodes = Buffer.from(hashes.subarray(first * HASH_BYTES, (first + count) * HASH_BYTES))
  for (let left = count; left > 1; left = Math.ceil(left / 2)) {
    const pairs = Math.floor(left / 2)
    for (let pair = 0; pair < pairs; pair += 1)
      nodes.write(nodeHash(nodes, pair * 2 * HASH_BYTES), pair * HASH_BYTES, 'latin1')
    if (left % 2 === 1) nodes.copy(nodes, pairs * HASH_BYTES, (left - 1) * HASH_BYTES, left * HASH_BYTES)
  }
  return nodes.subarray(0, HASH_BYTES)
}

const joined = (left: Uint8Array, right: Uint8Array): Buffer => rootOver(Buffer.concat([left, right]), 0, 2)

/** A tree that grows to the right. Only its partial tiles are in memory. */
export interface GrowingTree {
  readonly size: () => number
  readonly add: (leaf: Uint8Array) => void
  readonly root: () => Buffer
  /** The tiles that changed since the last call. */
  readonly changed: () => readonly Tile[]
}

interface PartialTile {
  index: number
  count: number
  readonly hashes: Buffer
}

/** Continues a tree of this size. */
export const growingTree = (start: number, read: ReadTile): GrowingTree => {
  let size = start
  let full: Tile[] = []
  const dirty = new Set<number>()
  const levels: PartialTile[] = []
  for (let units = start; units > 0; units = Math.floor(units / TILE_HASHES)) {
    const [index, count] = [Math.floor(units / TILE_HASHES), units % TILE_HASHES]
    const hashes = Buffer.alloc(TILE_HASHES * HASH_BYTES)
    if (count > 0) hashes.set(read(levels.length, index).subarray(0, count * HASH_BYTES))
    levels.push({ index, count, hashes })
  }

  const addAt = (level: number, hashed: Uint8Array): void => {
    const tile = (levels[level] ??= { index: 0, count: 0, hashes: Buffer.alloc(TILE_HASHES * HASH_BYTES) })
    tile.hashes.set(hashed, tile.count * HASH_BYTES)
    tile.count += 1
    dirty.add(level)
    if (tile.count < TILE_HASHES) return
    full.push({ level, index: tile.index, hashes: Buffer.from(tile.hashes) })
    tile.index += 1
    tile.count = 0
    dirty.delete(level)
    addAt(level + 1, rootOver(tile.hashes, 0, TILE_HASHES))
  }

  return {
    size: () => size,
    add: (leaf) => {
      addAt(0, leaf)
      size += 1
    },
    root: () => {
      let below: Buffer | undefined
      for (const { count, hashes } of levels) {
        const known = hashes.subarray(0, count * HASH_BYTES)
        const all: Buffer = below === undefined ? known : Buffer.concat([known, below])
        if (all.length > 0) below = rootOver(all, 0, all.length / HASH_BYTES)
      }
      return below ?? EMPTY_ROOT
    },
    changed: () => {
      const partial = [...dirty].map((level): Tile => {
        const { index, count, hashes } = levels[level]!
        return { level, index, hashes: Buffer.from(hashes.subarray(0, count * HASH_BYTES)) }
      })
      const tiles = [...full, ...partial]
      full = []
      dirty.clear()
      return tiles
    },
  }
}

/** The hash of the leaves from `first` up to before `end`, a subtree as RFC 6962 splits. */
const rangeHash = (first: number, end: number, read: ReadTile): Buffer => {
  const count = end - first
  const split = splitOf(count)
  // Only a complete subtree is within one tile.
  if (count > 1 && split * 2 !== count)
    return joined(rangeHash(first, first + split, read), rangeHash(first + split, end, read))
  let [level, unit] = [0, 1]
  for (; unit * TILE_HASHES <= count; unit *= TILE_HASHES) level += 1
  const at = first / unit
  const tile = read(level, Math.floor(at / TILE_HASHES))
  return rootOver(tile, at % TILE_HASHES, count / unit)
}

/** The root of the first `size` leaves. */
export const rootAt = (size: number, read: ReadTile): Buffer =>
  size === 0 ? EMPTY_ROOT : rangeHash(0, size, read)

/** The hashes that lead from a leaf to the root of a tree, from the sibling of the leaf up. */
export const inclusionPath = (index: number, size: number, read: ReadTile): readonly Buffer[] => {
  const path: Buffer[] = []
  let [first, end] = [0, size]
  while (end - first > 1) {
    const middle = first + splitOf(end - first)
    if (index < middle) {
      path.unshift(rangeHash(middle, end, read))
      end = middle
    } else {
      path.unshift(rangeHash(first, middle, read))
      first = middle
    }
  }
  return path
}

/** The hashes that show that a tree of `size` leaves begins with the first `old` ones (RFC 6962, 2.1.2). */
export const consistencyPath = (old: number, size: number, read: ReadTile): readonly Buffer[] => {
  if (old === 0) return []
  const path: Buffer[] = []
  let [first, end] = [0, size]
  while (old < end) {
    const middle = first + splitOf(end - first)
    if (old <= middle) {
      path.unshift(rangeHash(middle, end, read))
      end = middle
    } else {
      path.unshift(rangeHash(first, middle, read))
      first = middle
    }
  }
  return first === 0 ? path : [rangeHash(first, end, read), ...path]
}

/** The root that a path leads to. Undefined if the path has another length. */
export const rootOfPath = (
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Buffer | undefined => {
  const isLeft: boolean[] = []
  let [first, end] = [0, size]
  while (end - first > 1) {
    const middle = first + splitOf(end - first)
    isLeft.unshift(index < middle)
    if (index < middle) end = middle
    else first = middle
  }
  if (index >= size || path.length !== isLeft.length) return undefined
  return path.reduce<Buffer>(
    (below, hashed, at) => (isLeft[at] === true ? joined(below, hashed) : joined(hashed, below)),
    Buffer.from(leaf),
  )
}

/** How many hashes a tile has in a tree of this size. */
export const widthOf = (level: number, index: number, size: number): number =>
  Math.max(0, Math.min(TILE_HASHES, Math.floor(size / TILE_HASHES ** level) - index * TILE_HASHES))

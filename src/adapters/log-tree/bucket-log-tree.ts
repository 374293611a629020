import { LRUCache } from 'lru-cache'
import PQueue from 'p-queue'
import { digestOf } from '../../kernel/content-digest.js'
import type { Bucket } from '../../kernel/ports/bucket.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { LogKeys } from '../../kernel/ports/log-keys.js'
import {
  LogTreeChanged,
  type LogTree,
  type SignedCheckpoint,
  type TreeStep,
} from '../../kernel/ports/log-tree.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import { tilePath } from '../../kernel/tlog/entries.js'
import { HASH_BYTES, TILE_HASHES } from '../../kernel/tlog/merkle.js'
import type { KeyRing } from '../secrets/key-ring.js'
import { keysIn, newHead, openHead, type HeadObject } from './head-object.js'
import { thinned } from './thin.js'
import { checkpointsText, parseCheckpoints, type TreeHead } from './tree-head.js'

const POSITION_BYTES = 8
const TILE_BYTES = TILE_HASHES * HASH_BYTES
const CACHED_TILES = 1024
/** Checkpoints in the head, which is written with each; earlier ones are moved to an object of their own. */
const MOST_CHECKPOINTS = 32
const LEAST_CHECKPOINTS = 8

const tileKey = (level: number, index: number): string => `tile/${level}/${tilePath(index)}`
/** The positions of the last events of 256 full tiles of level 0. */
const positionsKey = (block: number): string => `positions/${tilePath(block)}`
const CHECKPOINTS = 'checkpoints'

export interface BucketLog {
  readonly tree: LogTree
  /** Change with the tree, as after "tallytree log rotate-key". */
  readonly keys: LogKeys
}

/**
 * The tree in a bucket, which several processes may have open: each step replaces the head if no other process has
 * replaced it meanwhile. A full tile is in the head first, and under its own key before the next step, so that a key never
 * has a tile that is not part of the tree.
 */
export const openBucketLog = async (bucket: Bucket, ring: KeyRing, host: string): Promise<BucketLog> => {
  const head = await openHead(bucket, () => newHead(ring, host))
  return { tree: treeOf(bucket, head), keys: currentKeys(ring, head) }
}

/** For commands, which change nothing. */
export const bucketLogOf = (bucket: Bucket, ring: KeyRing, head: TreeHead): BucketLog => {
  const refuse = () => Promise.reject(new Error('the tree is only read'))
  const fixed = { current: () => head, write: refuse, read: refuse }
  return { tree: treeOf(bucket, fixed), keys: currentKeys(ring, fixed) }
}

const currentKeys = (ring: KeyRing, { current }: Pick<HeadObject, 'current'>): LogKeys => {
  let from = current()
  let keys = keysIn(ring, from)
  const latest = (): LogKeys => {
    if (current().keys !== from.keys) keys = keysIn(ring, current())
    from = current()
    return keys
  }
  return {
    get origin() {
      return latest().origin
    },
    get all() {
      return latest().all
    },
    active: (now) => latest().active(now),
    salt: keys.salt,
  }
}

const treeOf = (bucket: Bucket, head: HeadObject): LogTree => {
  const { current } = head
  const start = `log/${current().id}/`
  const cache = new LRUCache<string, Uint8Array>({ max: CACHED_TILES })
  /** Steps and cosignatures, one at a time. */
  const writing = new PQueue({ concurrency: 1 })
  /** A cosignature met the change of another process, which the next step must not continue unseen. */
  let isChanged = false

  const object = async (key: string): Promise<Uint8Array> => {
    const known = current().full.get(key) ?? current().partial.get(key) ?? cache.get(key)
    if (known !== undefined) return known
    const found = await bucket.get(start + key)
    if (found === undefined)
      throw new OperatorError(
        `the bucket has no ${start}${key}; restore it from a backup, see docs/auditing.md`,
      )
    cache.set(key, found)
    return found
  }

  const positionOf = async (index: number): Promise<Position> => {
    const block = await object(positionsKey(Math.floor(index / TILE_HASHES)))
    return Buffer.from(block).readBigUInt64BE((index % TILE_HASHES) * POSITION_BYTES)
  }

  /** The full tiles stay in the head until the next one. */
  const storeFullTiles = async (): Promise<void> => {
    const storing = Array.from(current().full, async ([key, hashes]) => {
      await bucket.put(start + key, hashes, await digestOf(hashes))
      cache.set(key, hashes)
    })
    await Promise.all(storing)
  }

  const archived = async (): Promise<readonly SignedCheckpoint[]> => {
    const content = await bucket.get(start + CHECKPOINTS)
    return content === undefined ? [] : parseCheckpoints(content, start + CHECKPOINTS)
  }

  /** Whether they are in the object of earlier checkpoints. */
  const archive = async (earlier: readonly SignedCheckpoint[], now: number): Promise<boolean> => {
    const key = start + CHECKPOINTS
    const isReplaced = await bucket.replace(key, (content) =>
      checkpointsText(thinned(merged(parseCheckpoints(content, key), earlier), now)),
    )
    return isReplaced || bucket.create(key, checkpointsText(earlier))
  }

  const withCheckpoint = async (
    { checkpoints }: TreeHead,
    checkpoint: SignedCheckpoint,
  ): Promise<readonly SignedCheckpoint[]> => {
    const now = checkpoint.signedAt.getTime()
    const recent = thinned(merged(checkpoints, [checkpoint]), now)
    if (recent.length <= MOST_CHECKPOINTS) return recent
    const isArchived = await archive(recent.slice(0, -LEAST_CHECKPOINTS), now)
    return isArchived ? recent.slice(-LEAST_CHECKPOINTS) : recent
  }

  const save = async (step: TreeStep): Promise<void> => {
    if (isChanged) {
      isChanged = false
      throw new LogTreeChanged()
    }
    await storeFullTiles()
    const next = withLeaves(current(), step)
    const { checkpoint } = step
    await head.write(
      checkpoint === undefined ? next : { ...next, checkpoints: await withCheckpoint(current(), checkpoint) },
    )
  }

  const cosign = async (checkpoint: SignedCheckpoint, line: string): Promise<void> => {
    for (;;) {
      const { checkpoints } = current()
      const known = checkpoints.find(({ size }) => size === checkpoint.size) ?? checkpoint
      if (known.note.includes(line)) return
      const cosigned = { ...known, note: known.note + line }
      try {
        await head.write({ ...current(), checkpoints: merged(checkpoints, [cosigned]) })
        return
      } catch (error) {
        if (!(error instanceof LogTreeChanged)) throw error
        isChanged = true
      }
    }
  }

  return {
    named: 'the tree in the bucket',
    size: () => current().size,
    position: () => current().position,
    tile: (level, index) => object(tileKey(level, index)),
    tileAt: async (position) => {
      const { size, position: last } = current()
      if (position > last || size === 0) return undefined
      let [low, high] = [0, Math.floor(size / TILE_HASHES)]
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        if ((await positionOf(middle)) >= position) high = middle
        else low = middle + 1
      }
      return low
    },
    positionBefore: (index) => (index === 0 ? 0n : positionOf(index - 1)),
    latest: () => current().checkpoints.at(-1),
    checkpoints: async () => {
      const { checkpoints } = current()
      const now = checkpoints.at(-1)?.signedAt.getTime() ?? 0
      return thinned(merged(await archived(), checkpoints), now)
    },
    previous: () => current().previous,
    refresh: async () => {
      const isOther = (await writing.add(head.read)) === true || isChanged
      isChanged = false
      return isOther
    },
    save: (step) => writing.add(() => save(step)),
    cosign: (checkpoint, line) => writing.add(() => cosign(checkpoint, line)),
    close: () => undefined,
  }
}

/** By size; of two of one size, the one with more signatures. */
const merged = (
  some: readonly SignedCheckpoint[],
  more: readonly SignedCheckpoint[],
): readonly SignedCheckpoint[] => {
  const bySize = new Map<number, SignedCheckpoint>()
  for (const checkpoint of [...some, ...more])
    if ((bySize.get(checkpoint.size)?.note.length ?? 0) <= checkpoint.note.length)
      bySize.set(checkpoint.size, checkpoint)
  return [...bySize.values()].sort((a, b) => a.size - b.size)
}

/** The head with the tiles of a step. Its full tiles are the new ones. */
const withLeaves = (head: TreeHead, { tiles, positions }: TreeStep): TreeHead => {
  const partial = new Map(head.partial)
  const full = new Map<string, Buffer>()
  let [size, position] = [head.size, head.position]
  const keep = (key: string, content: Buffer, isFull: boolean) => {
    if (!isFull) return void partial.set(key, content)
    partial.delete(key)
    full.set(key, content)
  }
  for (const { level, index, hashes } of tiles) {
    const isFull = hashes.length === TILE_BYTES
    keep(tileKey(level, index), hashes, isFull)
    if (level > 0) continue
    size = Math.max(size, index * TILE_HASHES + hashes.length / HASH_BYTES)
    const last = positions.get(index)
    if (last === undefined) continue
    if (last > position) position = last
    if (!isFull) continue
    const key = positionsKey(Math.floor(index / TILE_HASHES))
    const bytes = Buffer.alloc(POSITION_BYTES)
    bytes.writeBigUInt64BE(last)
    const block = Buffer.concat([partial.get(key) ?? Buffer.alloc(0), bytes])
    keep(key, block, block.length === TILE_HASHES * POSITION_BYTES)
  }
  return { ...head, partial, full, size, position }
}

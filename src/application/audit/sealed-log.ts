import type { EventPlace, Position } from '../../kernel/ports/event-store.js'
import type { LogTree, SignedCheckpoint } from '../../kernel/ports/log-tree.js'
import { entryBundle, entryBytes, proofText, type LogEntry } from '../../kernel/tlog/entries.js'
import { HASH_BYTES, inclusionPath, TILE_HASHES, widthOf, withTiles } from '../../kernel/tlog/merkle.js'
import type { ReadPlaces } from './seals.js'

/** What a published checkpoint covers. */
export interface SealedLog {
  /** Undefined before the first one. */
  readonly checkpoint: () => SignedCheckpoint | undefined
  readonly checkpoints: () => Promise<readonly SignedCheckpoint[]>
  /** The last checkpoint of the log that this one replaced. */
  readonly previous: () => string | undefined
  /** Returns a function that finds the indices of events by their positions, cheaply in log order. */
  readonly indices: () => (position: Position) => Promise<number | undefined>
  /** The first `width` hashes of a tile; undefined where the tree has less. */
  readonly tile: (level: number, index: number, width: number) => Promise<Uint8Array | undefined>
  /** The entries of a tile of level 0. */
  readonly entries: (index: number, width: number) => Promise<Buffer | undefined>
  /** A proof that the checkpoint covers the event at a position; undefined if none does yet. */
  readonly proof: (position: Position) => Promise<string | undefined>
}

export const hasDigest = (place: EventPlace): place is EventPlace & LogEntry => place.digest !== undefined

export const sealedLog = (
  tree: LogTree,
  readPlaces: ReadPlaces,
  checkpoint: () => SignedCheckpoint | undefined,
): SealedLog => {
  const size = () => checkpoint()?.size ?? 0
  const placesOf = async (tile: number, count: number) => readPlaces(await tree.positionBefore(tile), count)

  const indices: SealedLog['indices'] = () => {
    let known: ReadonlyMap<Position, number> = new Map()
    return async (position) => {
      const tile = known.has(position) ? undefined : await tree.tileAt(position)
      if (tile !== undefined) {
        const places = await placesOf(tile, TILE_HASHES)
        known = new Map(places.map((place, at) => [place.position, tile * TILE_HASHES + at]))
      }
      const index = known.get(position)
      return index !== undefined && index < size() ? index : undefined
    }
  }

  return {
    checkpoint,
    checkpoints: async () => (await tree.checkpoints()).filter((one) => one.size <= size()),
    previous: () => tree.previous(),
    indices,
    tile: async (level, index, width) =>
      width <= widthOf(level, index, size())
        ? (await tree.tile(level, index)).subarray(0, width * HASH_BYTES)
        : undefined,
    entries: async (index, width) => {
      if (width > widthOf(0, index, size())) return undefined
      const places = (await placesOf(index, width)).filter(hasDigest)
      return places.length === width ? entryBundle(places.map(entryBytes)) : undefined
    },
    proof: async (position) => {
      const index = await indices()(position)
      const signed = checkpoint()
      if (index === undefined || signed === undefined) return undefined
      const places = await placesOf(Math.floor(index / TILE_HASHES), (index % TILE_HASHES) + 1)
      const entry = places.filter(hasDigest).at(-1)
      const path = await withTiles(tree.tile, (read) => inclusionPath(index, signed.size, read))
      return entry?.position === position ? proofText(entryBytes(entry), index, path, signed.note) : undefined
    },
  }
}

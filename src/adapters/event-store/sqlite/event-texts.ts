import type { Database } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import { unpack, type EventTexts, type Unpacked } from './pack.js'

/** The texts of an event, from its row or, if those there are empty, from its pack. */
export type ReadTexts = (position: number, data: string, metadata: string) => EventTexts

/** The texts of packed events cannot be read. */
export class CorruptPack extends StoreUnavailable {}

interface CachedPack {
  readonly first: number
  readonly last: number
  readonly textsAt: Unpacked
}

/** As many readers as usual read the log at once, each has its pack. */
const CACHED_PACKS = 16

/** @throws CorruptPack while it reads */
export const eventTexts = (db: Database): ReadTexts => {
  const select = db
    .prepare<[number], [first: number, last: number, texts: Buffer]>(
      'SELECT first, last, texts FROM packs WHERE last >= ? ORDER BY last LIMIT 1',
    )
    .raw()
  const cache = new LRUCache<number, CachedPack>({ max: CACHED_PACKS })

  const read = (position: number): CachedPack => {
    const found = select.get(position)
    if (found === undefined || found[0] > position) throw corrupt(position, position)
    const [first, last, texts] = found
    const textsAt = unpack(texts)
    if (textsAt === undefined) throw corrupt(first, last)
    const pack = { first, last, textsAt }
    cache.set(last, pack)
    return pack
  }

  return (position, data, metadata) => {
    if (data !== '') return { data, metadata }
    const { first, last, textsAt } =
      cache.find((pack) => pack.first <= position && position <= pack.last) ?? read(position)
    const texts = textsAt(position)
    if (texts === undefined) throw corrupt(first, last)
    return texts
  }
}

const corrupt = (first: number, last: number): CorruptPack =>
  new CorruptPack(
    `the event log is corrupt at positions ${first} to ${last}: restore events.db from a backup`,
  )

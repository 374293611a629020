import type { Database } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import type { EventTexts } from '../seal.js'
import { unpack, type Unpacked } from './pack.js'

/** The texts of an event, from its row or, if those there are empty, from its pack; undefined if the pack is corrupt. */
export type ReadTexts = (position: number, data: string, metadata: string) => EventTexts | undefined

interface CachedPack {
  readonly first: number
  readonly last: number
  readonly textsAt: Unpacked | undefined
}

/** As many readers as usual read the log at once, each has its pack. */
const CACHED_PACKS = 16

export const eventTexts = (db: Database): { readonly read: ReadTexts; readonly forget: () => void } => {
  const select = db
    .prepare<[number], [first: number, last: number, texts: Buffer]>(
      'SELECT first, last, texts FROM packs WHERE last >= ? ORDER BY last LIMIT 1',
    )
    .raw()
  const cache = new LRUCache<number, CachedPack>({ max: CACHED_PACKS })

  const readPack = (position: number): CachedPack | undefined => {
    const found = select.get(position)
    if (found === undefined || found[0] > position) return undefined
    const [first, last, texts] = found
    const pack = { first, last, textsAt: unpack(texts) }
    cache.set(last, pack)
    return pack
  }

  return {
    read: (position, data, metadata) => {
      if (data !== '') return { data, metadata }
      const pack = cache.find((one) => one.first <= position && position <= one.last) ?? readPack(position)
      return pack?.textsAt?.(position)
    },
    forget: () => cache.clear(),
  }
}

import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { entityOf } from '../../kernel/ids.js'
import { DEFAULT_LIST, teamsList } from '../../domain/prices/events.js'
import { versionedCache } from '../../kernel/versioned-cache.js'
import { bookOf, type PriceBook } from './book.js'
import { pricesAt, pricesChangedAt } from './queries.js'

export interface BookRequest {
  readonly projectId: string
  /**
   * Prices by this list alone; null for the project's own prices and, where there are none, those of its team's upstreams
   * and the default list.
   */
  readonly list: string | null
  readonly position: Position
}

/** Cached prices of all books together. */
const MAX_PRICES = 200_000

type Reader = Pick<ClickHouseReader, 'query'>

export type Books = (reader: Reader, request: BookRequest) => Promise<PriceBook>

/** Caches price books until a price changes or the tables are rebuilt. */
export const cachedBooks = (generation: () => string = () => ''): Books => {
  const cache = versionedCache<{ readonly book: PriceBook; readonly prices: number }>({
    maxSize: MAX_PRICES,
    sizeOf: ({ prices }) => prices + 1,
  })
  return async (reader, { projectId, list, position }) => {
    const owners = list === null ? [projectId, teamsList(entityOf(projectId)), DEFAULT_LIST] : [list]
    const tables = generation()
    const changed = await pricesChangedAt(reader, owners)
    const version = changed <= position ? String(changed) : undefined
    const cacheKey = version === undefined ? undefined : `${tables} ${version}`
    const known = cacheKey === undefined ? undefined : cache.get(owners.join('\n'), cacheKey)
    if (known !== undefined) return known.book
    const stored = await pricesAt(reader, owners, position)
    const book = bookOf(stored, projectId, version)
    if (cacheKey !== undefined) cache.put(owners.join('\n'), cacheKey, { book, prices: stored.length })
    return book
  }
}

import { readSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { usedGapIn, type UsedGap } from './page-gaps.js'
import { compact, mayHaveRemains } from './schema.js'

/** Runs work that holds up the event loop, and pauses. */
export type Resting = <A>(work: () => A | Promise<A>) => Promise<A>

const FREED_AT_ONCE = 32
const PAGES_AT_ONCE = 64
const COLUMNS_OF_EVENTS = 9
const COLUMNS_OF_PACKS = 3

/**
 * Returns a function that removes what earlier transactions left of deleted texts: in the write-ahead log, in free pages,
 * and in unused parts of pages. `file` is a descriptor of the database.
 */
export const scrubber = (db: Database, file: number) => {
  const pageBytes = Number(db.pragma('page_size', { simple: true }))
  const checkpoint = () => void db.pragma('wal_checkpoint(TRUNCATE)')
  const growAndShrink = (table: 'events' | 'packs', key: string, column: string) => {
    const read = db
      .prepare<[number], string | Buffer>(`SELECT ${column} FROM ${table} WHERE ${key} = ?`)
      .pluck()
    const write = db.prepare<[string | Buffer, number]>(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`)
    return ({ rowid, room }: UsedGap) => {
      const value = read.get(rowid)
      if (value === undefined) return
      const grown =
        typeof value === 'string' ? value + ' '.repeat(room) : Buffer.concat([value, Buffer.alloc(room)])
      write.run(grown, rowid)
      write.run(value, rowid)
    }
  }
  const byColumns = new Map([
    [COLUMNS_OF_EVENTS, growAndShrink('events', 'position', 'data')],
    [COLUMNS_OF_PACKS, growAndShrink('packs', 'last', 'texts')],
  ])

  const read = (page: number, count: number): readonly Buffer[] => {
    const bytes = Buffer.alloc(count * pageBytes)
    const length = readSync(file, bytes, 0, bytes.length, page * pageBytes)
    return Array.from({ length: Math.floor(length / pageBytes) }, (_, at) =>
      bytes.subarray(at * pageBytes, (at + 1) * pageBytes),
    )
  }

  /** A row that fills its page makes SQLite overwrite the unused parts. */
  const fill = db.transaction((gaps: readonly UsedGap[]) => {
    for (const gap of gaps) byColumns.get(gap.columns)?.(gap)
  })
  const gapsIn = (page: number, count: number): readonly UsedGap[] =>
    read(page, count).flatMap((bytes) => {
      const gap = usedGapIn(bytes)
      return gap !== undefined && byColumns.has(gap.columns) ? [gap] : []
    })
  const scrubPages = (page: number): void => {
    if (gapsIn(page, PAGES_AT_ONCE).length === 0) return
    // The file has the current pages only if the write-ahead log is empty.
    checkpoint()
    fill.immediate(gapsIn(page, PAGES_AT_ONCE))
  }

  return async (resting: Resting): Promise<void> => {
    if (mayHaveRemains(db)) await resting(() => compact(db))
    const canShrink = db.pragma('auto_vacuum', { simple: true }) === 2
    while (canShrink && Number(db.pragma('freelist_count', { simple: true })) > 0)
      await resting(() => db.pragma(`incremental_vacuum(${FREED_AT_ONCE})`))
    await resting(checkpoint)
    const pages = Number(db.pragma('page_count', { simple: true }))
    for (let page = 0; page < pages; page += PAGES_AT_ONCE) await resting(() => scrubPages(page))
    await resting(checkpoint)
  }
}

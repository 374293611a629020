import type { Database } from 'better-sqlite3'
import { orElse } from './damaged-pages.js'
import type { ReadTexts } from './event-texts.js'
import { rowSeal } from './row-seal.js'

/** Gives the events of earlier releases their seals, the newest first: those without one are the first of the log. */
export interface Sealer {
  /** No later event lacks a seal. */
  readonly upTo: () => number
  /** Seals the next events in one short transaction; false if all have their seals. */
  readonly step: () => boolean
}

const EVENTS_AT_ONCE = 128
const CHARACTERS_AT_ONCE = 131_072

interface Row {
  readonly position: number
  readonly stream: string
  readonly revision: number
  readonly id: string
  readonly type: string
  readonly recordedAt: number
  readonly data: string
  readonly metadata: string
}

export const openSealer = (db: Database, texts: ReadTexts): Sealer => {
  const select = db.prepare<[number, number], Row>(
    `SELECT position, name AS stream, revision, id, type, recorded_at AS recordedAt, data, metadata
     FROM events CROSS JOIN streams USING (sid)
     WHERE position <= ? AND seal IS NULL ORDER BY position DESC LIMIT ?`,
  )
  const update = db.prepare<[Buffer, number]>('UPDATE events SET seal = ? WHERE position = ?')
  const write = db.transaction((seals: ReadonlyMap<number, Buffer>) => {
    for (const [position, seal] of seals) update.run(seal, position)
  })
  let upTo = lastUnsealed(db)

  return {
    upTo: () => upTo,
    step: () => {
      if (upTo === 0) return false
      const seals = new Map<number, Buffer>()
      let before = 0
      let characters = 0
      for (const row of select.iterate(upTo, EVENTS_AT_ONCE)) {
        const found = texts(row.position, row.data, row.metadata)
        if (found !== undefined) seals.set(row.position, rowSeal(row, found))
        before = row.position - 1
        characters += row.data.length
        if (characters > CHARACTERS_AT_ONCE) break
      }
      write.immediate(seals)
      upTo = before
      return true
    },
  }
}

/** A binary search: all events up to it lack a seal, and no later one does. */
const lastUnsealed = (db: Database): number => {
  const lastUpTo = db
    .prepare<[number], [position: number, isUnsealed: number]>(
      'SELECT position, seal IS NULL FROM events WHERE position <= ? ORDER BY position DESC LIMIT 1',
    )
    .raw()
  let [low, high] = [0, lastUpTo.get(Number.MAX_SAFE_INTEGER)?.[0] ?? 0]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    // Events of a damaged page can get no seal.
    const [position, isUnsealed] = orElse([middle, 0], () => lastUpTo.get(middle)) ?? [0, 0]
    if (isUnsealed === 1) low = middle
    else high = Math.max(low, position - 1)
  }
  return low
}

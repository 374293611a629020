import type { Database } from 'better-sqlite3'
import { openDatabase } from '../../../../src/adapters/event-store/sqlite/open-database.js'
import type { Packing } from '../../../../src/adapters/event-store/sqlite/packer.js'
import { sqliteEventStoreOn } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { noHealthReports } from '../../../../src/kernel/ports/health.js'
import { until } from '../../../support/until.js'

/** Packs all but the last events, in small packs and without pauses. */
export const EAGER: Packing = { newest: 4, events: 8, freePages: 2, rest: 0, quietRest: 0, idleMs: 1 }

/** A store that packs its events, and its database. */
export const openPackedStore = (path: string, packing: Partial<Packing> = {}, health = noHealthReports) => {
  const opened = openDatabase(path)
  return { db: opened.db, store: sqliteEventStoreOn(opened, health, { ...EAGER, ...packing }) }
}

const PACKED = "SELECT position FROM events WHERE data = '' ORDER BY position"

/** The positions of the packed events. */
export const packedIn = (db: Database): readonly number[] => db.prepare<[], number>(PACKED).pluck().all()

const LEFT = `
  SELECT count(*) FROM events
  WHERE data != '' AND type IN ('CallStarted', 'CallEnded') AND position <= (SELECT max(position) FROM events) - ?
`

/** Waits until too few events are left for a pack. */
export const untilPacked = async (db: Database, { newest, events } = EAGER): Promise<void> => {
  const left = db.prepare<[number], number>(LEFT).pluck()
  await until(() => left.get(newest)! < events)
}

import type { Json } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import { deliveriesIn } from './deliveries.js'
import { openStateFile } from './open-state-file.js'

/**
 * The dispatcher's state in one SQLite file of this process alone. What was folded since the last commit is one open
 * transaction, which a crash takes back together with the checkpoint.
 */
export const openSqliteDispatcherState = (path: string): DispatcherState => {
  const db = openStateFile(path)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const readCheckpoint = db.prepare<[], string>('SELECT position FROM checkpoint').pluck()
  const writeCheckpoint = db.prepare('INSERT OR REPLACE INTO checkpoint VALUES (1, ?)')
  const put = db.prepare('INSERT OR REPLACE INTO things VALUES (?, ?, ?)')
  const get = db
    .prepare<[string, string], string>('SELECT value FROM things WHERE kind = ? AND key = ?')
    .pluck()
  const remove = db.prepare('DELETE FROM things WHERE kind = ? AND key = ?')
  const all = db.prepare<[string, string, number], { key: string; value: string }>(
    'SELECT key, value FROM things WHERE kind = ? AND key > ? ORDER BY key LIMIT ?',
  )
  const some = (kind: string, limit: number, after = '') =>
    all.all(kind, after, limit).map(({ key, value }) => [key, parseJson(value)] as const)
  const unclaimAll = db.prepare('UPDATE deliveries SET claimed = 0 WHERE claimed = 1')
  begin.run()
  unclaimAll.run()

  return {
    checkpoint: () => {
      const position = readCheckpoint.get()
      return position === undefined ? undefined : BigInt(position)
    },
    commit: (checkpoint) => {
      writeCheckpoint.run(String(checkpoint))
      commit.run()
      begin.run()
    },
    rollBack: () => {
      // Some failures end the transaction by themselves.
      if (db.inTransaction) db.exec('ROLLBACK')
      begin.run()
      unclaimAll.run()
    },
    clear: () => {
      for (const table of ['checkpoint', 'things', 'deliveries']) db.exec(`DELETE FROM ${table}`)
    },
    put: (kind, key, value) => void put.run(kind, key, jsonText(value as Json)),
    get: (kind, key) => {
      const value = get.get(kind, key)
      return value === undefined ? undefined : parseJson(value)
    },
    remove: (kind, key) => void remove.run(kind, key),
    all: (kind) => some(kind, -1),
    some,
    ...deliveriesIn(db),
    close: () => {
      try {
        if (db.inTransaction) db.exec('ROLLBACK')
      } finally {
        db.close()
      }
    },
  }
}

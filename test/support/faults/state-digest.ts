import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'

/** One for each content of a dispatcher's state that nobody has open; who had claimed what is nothing of it. */
export const stateDigest = (path: string): string => {
  const db = new Database(path, { readonly: true })
  const rows = [
    db.prepare('SELECT position FROM checkpoint').all(),
    db.prepare('SELECT kind, key, value FROM things ORDER BY kind, key').all(),
    db
      .prepare(
        'SELECT id, webhook, turn, due_at, not_before, ordinal, revision, delivery FROM deliveries ORDER BY id',
      )
      .all(),
  ]
  db.close()
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex')
}

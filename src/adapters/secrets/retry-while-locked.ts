import Database from 'better-sqlite3'
import { SecretsUnavailable } from '../../kernel/ports/secret-store.js'
import { retry } from '../../kernel/backoff.js'

const TIMEOUT_MS = 5000
const BACKOFF = { firstMs: 10, maxMs: 40 }

/** Waits up to five seconds for another process's lock, without blocking the event loop. */
export const retryWhileLocked = <A>(task: () => A): Promise<A> => {
  const until = performance.now() + TIMEOUT_MS
  return retry(
    task,
    (cause) => {
      if (!(cause instanceof Database.SqliteError)) return false
      if (/^SQLITE_(BUSY|LOCKED)/.test(cause.code) && performance.now() <= until) return true
      throw new SecretsUnavailable(`the secret store failed (${cause.code})`, { cause })
    },
    BACKOFF,
  )
}

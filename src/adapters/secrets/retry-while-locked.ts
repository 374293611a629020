import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { SecretsUnavailable } from '../../domain/ports/secret-store.js'

const PATIENCE_MS = 5000
const REST_MS = 10

/** Retries for five seconds while another process holds the database lock, without blocking the event loop. */
export const retryWhileLocked = async <A>(task: () => A): Promise<A> => {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return task()
    } catch (cause) {
      if (!(cause instanceof Database.SqliteError)) throw cause
      if (!/^SQLITE_(BUSY|LOCKED)/.test(cause.code) || performance.now() > until)
        throw new SecretsUnavailable(`the secret store failed (${cause.code})`, { cause })
    }
    await sleep(REST_MS)
  }
}

import { openSecretsDatabase, padded, retryWhileLocked } from './database.js'
import { keyIdOf, seal, unseal } from './envelope.js'
import type { KeyRing } from './key-ring.js'
import { SecretUnreadable, type SecretVersion } from '../../kernel/ports/secret-store.js'

export interface ReencryptionResult {
  /** The id of the key that all readable values now use. */
  readonly activeKey: string
  readonly reencrypted: number
  /** Values that already used the active key. */
  readonly already: number
  /** The number of values per key id whose key is missing or whose envelope was modified. */
  readonly unreadable: ReadonlyMap<string, number>
}

interface Row extends SecretVersion {
  readonly rowid: number
  readonly envelope: string
}

const AT_ONCE = 50

/**
 * Re-encrypts all values with the active key in small transactions, so that running services can use the file
 * meanwhile. After an interruption, the next run skips the finished values. `note` receives the progress.
 */
export const reencryptSecrets = async (
  path: string,
  ring: KeyRing,
  note: (done: number, all: number) => void,
): Promise<ReencryptionResult> => {
  const db = await openSecretsDatabase(path)
  try {
    const master = ring.active()
    const count = db.prepare<[], number>('SELECT count(*) FROM secrets').pluck()
    const page = db.prepare<[unknown], Row>(
      'SELECT rowid, team, name, version, rtrim(envelope) AS envelope FROM secrets WHERE rowid > @after ORDER BY rowid LIMIT @limit',
    )
    const change = db.prepare('UPDATE secrets SET envelope = @envelope WHERE rowid = @rowid')
    const unreadable = new Map<string, number>()
    let [after, done, reencrypted, already] = [0, 0, 0, 0]

    const reencryptPage = db.transaction(() => {
      const rows = page.all({ after, limit: AT_ONCE })
      const outcomes = rows.map((row) => {
        const keyId = keyIdOf(row.envelope)
        if (keyId === master.id) return { keyId, outcome: 'already' as const }
        const value = readable(ring, row)
        if (value === undefined) return { keyId, outcome: 'unreadable' as const }
        change.run({ rowid: row.rowid, envelope: padded(seal(master, row, value)) })
        return { keyId, outcome: 'reencrypted' as const }
      })
      return { outcomes, last: rows.at(-1)?.rowid }
    })

    const all = await retryWhileLocked(() => count.get() ?? 0)
    for (;;) {
      const { outcomes, last } = await retryWhileLocked(() => reencryptPage.immediate())
      if (last === undefined) break
      for (const { keyId, outcome } of outcomes) {
        if (outcome === 'unreadable') unreadable.set(keyId, (unreadable.get(keyId) ?? 0) + 1)
        else if (outcome === 'already') already += 1
        else reencrypted += 1
      }
      after = last
      done += outcomes.length
      note(done, Math.max(all, done))
    }
    return { activeKey: master.id, reencrypted, already, unreadable }
  } finally {
    db.close()
  }
}

/** Undefined if its key is missing or the envelope was modified. */
export const readable = (
  ring: KeyRing,
  { envelope, ...secret }: SecretVersion & { readonly envelope: string },
): string | undefined => {
  try {
    return unseal(ring.find, secret, envelope)
  } catch (error) {
    if (error instanceof SecretUnreadable) return undefined
    throw error
  }
}

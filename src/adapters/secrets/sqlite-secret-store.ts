import type { HeldSecret, SecretStore } from '../../kernel/ports/secret-store.js'
import { openSecretsDatabase, padded, retryWhileLocked } from './database.js'
import { keyIdOf, seal, unseal } from './envelope.js'
import type { KeyRing } from './key-ring.js'

interface Row {
  readonly version: number
  readonly stored_at: number
  readonly confirmed: number
}

export interface SqliteSecretStore extends SecretStore {
  /** The ids of the master keys that stored values need and the key ring lacks. */
  readonly missingKeys: () => Promise<readonly string[]>
}

/**
 * Secrets in a SQLite file (`docs/decisions/0015-keep-secrets-outside-the-log.md`).
 *
 * @throws SecretsUnavailable
 */
export const openSqliteSecretStore = async (path: string, ring: KeyRing): Promise<SqliteSecretStore> => {
  const db = await openSecretsDatabase(path)
  const add = db.prepare(
    'INSERT INTO secrets VALUES (@team, @name, @version, @now, 0, @envelope) ON CONFLICT DO NOTHING',
  )
  const one = 'team = @team AND name = @name AND version = @version'
  const find = db.prepare<[unknown], string>(`SELECT rtrim(envelope) FROM secrets WHERE ${one}`).pluck()
  const confirm = db.prepare(`UPDATE secrets SET confirmed = 1 WHERE ${one}`)
  const remove = db.prepare(`DELETE FROM secrets WHERE ${one}`)
  const teams = db.prepare<[], string>('SELECT DISTINCT team FROM secrets ORDER BY team').pluck()
  const names = db.prepare<[unknown], { name: string; since: number }>(
    `SELECT name, min(stored_at) AS since FROM secrets WHERE team = @team AND name > @after
     GROUP BY name ORDER BY name LIMIT @limit`,
  )
  const versions = db.prepare<[unknown], Row>(
    `SELECT version, stored_at, confirmed FROM secrets WHERE team = @team AND name = @name ORDER BY version`,
  )
  const envelopes = db.prepare<[], string>('SELECT rtrim(envelope) FROM secrets').pluck()

  return {
    put: async (secret, value) => {
      const envelope = padded(seal(ring.active(), secret, value))
      const { team, name, version } = secret
      const row = { team, name, version, envelope, now: Date.now() }
      return (await retryWhileLocked(() => add.run(row))).changes === 1
    },
    get: async (secret) => {
      const envelope = await retryWhileLocked(() => find.get(secret))
      return envelope === undefined ? undefined : unseal(ring.find, secret, envelope)
    },
    confirm: async (secret) => {
      await retryWhileLocked(() => confirm.run(secret))
    },
    destroy: async (secrets) => {
      const all = db.transaction(() => secrets.forEach((secret) => remove.run(secret)))
      await retryWhileLocked(() => all.immediate())
    },
    teams: () => retryWhileLocked(() => teams.all()),
    names: async (team, { after = '', limit }) => {
      const found = await retryWhileLocked(() => names.all({ team, after, limit }))
      return found.map(({ name, since }) => ({ name, since: new Date(since) }))
    },
    versions: async ({ team, name }) => {
      const found = await retryWhileLocked(() => versions.all({ team, name }))
      return found.map(({ version, stored_at, confirmed }): HeldSecret => ({
        team,
        name,
        version,
        storedAt: new Date(stored_at),
        confirmed: confirmed === 1,
      }))
    },
    missingKeys: async () => {
      const needed = new Set<string>()
      await retryWhileLocked(() => {
        for (const envelope of envelopes.iterate()) needed.add(keyIdOf(envelope))
      })
      return [...needed].filter((id) => ring.find(id) === undefined)
    },
    close: async () => {
      db.close()
    },
  }
}

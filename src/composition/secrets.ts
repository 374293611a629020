import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openBucketSecretStore } from '../adapters/secrets/bucket-secret-store.js'
import { isReadableByOthers } from '../adapters/secrets/key-file.js'
import { openKeyRing, type KeyRing } from '../adapters/secrets/key-ring.js'
import { openSqliteSecretStore } from '../adapters/secrets/sqlite-secret-store.js'
import type { Config } from '../config.js'
import type { Bucket } from '../kernel/ports/bucket.js'
import type { Clock } from '../kernel/ports/clock.js'
import type { EventStore } from '../kernel/ports/event-store.js'
import type { Log } from '../kernel/ports/log.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import type { SecretStore } from '../kernel/ports/secret-store.js'
import { reconcileSecrets } from '../application/secrets/reconcile.js'
import type { UnreadableSecrets } from '../application/secrets/unreadable.js'

export const secretsFile = (dataDirectory: string) => join(dataDirectory, 'secrets.db')

type SecretsConfig = Pick<Config, 'dataDirectory' | 'masterKeys' | 'masterKeysFile' | 'objects'>

const keyFileOf = ({ dataDirectory, masterKeysFile }: SecretsConfig) =>
  masterKeysFile ?? join(dataDirectory, 'master-keys')

export const keyRingOf = (config: SecretsConfig): KeyRing => {
  const path = keyFileOf(config)
  const isThere = existsSync(path)
  if (config.masterKeysFile !== null && !isThere)
    throw new OperatorError(`TALLYTREE_MASTER_KEYS_FILE: ${path} does not exist`)
  if (config.objects !== null && config.masterKeys.length === 0 && !isThere)
    throw new OperatorError(
      'TALLYTREE_OBJECTS_URL: requires TALLYTREE_MASTER_KEYS or TALLYTREE_MASTER_KEYS_FILE, because a key that is made in the ' +
        'data directory would be lost with it',
    )
  return openKeyRing(config.masterKeys, path)
}

/** Opens the secrets of the bucket or of the data directory. Missing master keys are logged; only what needs them fails. */
export const openSecrets = async (
  config: SecretsConfig,
  bucket: Bucket | undefined,
  log: Pick<Log, 'warn'>,
): Promise<SecretStore> => {
  const path = keyFileOf(config)
  if (isReadableByOthers(path)) log.warn('secrets.keys_open_to_others', { path, should: 'mode 0600' })
  const ring = keyRingOf(config)
  const store =
    bucket === undefined
      ? await openSqliteSecretStore(secretsFile(config.dataDirectory), ring)
      : openBucketSecretStore(bucket, ring)
  const missing = await store.missingKeys()
  if (missing.length > 0) log.warn('secrets.keys_missing', { keys: [...missing] })
  return store
}

interface ReconcilePorts {
  readonly eventStore: EventStore
  readonly secrets: SecretStore
  readonly unreadableSecrets: Pick<UnreadableSecrets, 'find'>
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
}

/** With a shared log, another process may be storing a value now: a younger one is not removed. */
const ABANDONED_AFTER_MS = 600_000

/** Repairs what a crash left between storing a value and recording it, and finds lost values. Never rejects. */
export const reconcileSecretsAtStart = async (
  ports: ReconcilePorts,
  { eventStoreUrl }: Pick<Config, 'eventStoreUrl'>,
): Promise<void> => {
  try {
    const abandonedAfterMs = eventStoreUrl === null ? 0 : ABANDONED_AFTER_MS
    const { unknown } = await reconcileSecrets(ports, { abandonedAfterMs })
    if (unknown > 0)
      ports.log.warn('secrets.orphaned', {
        values: unknown,
        reason: 'the log has no event for these values, so it is probably another log; they are kept',
      })
    await ports.unreadableSecrets.find()
  } catch (error) {
    ports.log.warn('secrets.cleanup_failed', { name: error instanceof Error ? error.name : typeof error })
  }
}

import { stat } from 'node:fs/promises'
import { reencryptBucketSecrets } from '../adapters/secrets/bucket-secret-store.js'
import { reencryptBucketLogKeys } from '../adapters/log-tree/head-object.js'
import type { KeyRing } from '../adapters/secrets/key-ring.js'
import { reencryptSecrets, type ReencryptionResult } from '../adapters/secrets/reencrypt.js'
import { openBucket } from '../composition/objects.js'
import { keyRingOf, secretsFile } from '../composition/secrets.js'
import type { Config } from '../config.js'
import type { Bucket } from '../kernel/ports/bucket.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { progressOn } from './progress.js'

/**
 * `tallytree secrets reencrypt`: re-encrypts all values of the bucket or the data directory with the active master key, also while
 * services use them. Returns the exit code.
 */
export const reencrypt = async (config: Config): Promise<number> => {
  const path = secretsFile(config.dataDirectory)
  if (config.objects === null && (await stat(path).catch(() => undefined)) === undefined)
    throw new OperatorError(
      `${config.dataDirectory} does not contain secrets (secrets.db); see TALLYTREE_DATA_DIR`,
    )
  const progress = progressOn(process.stderr, 're-encrypting', undefined, 'values')
  const note = (values: number, all: number) => progress.note(values, values / all)
  const done =
    config.objects === null
      ? await reencryptSecrets(path, keyRingOf(config), note)
      : await reencryptBucket(await openBucket(config.objects), keyRingOf(config), note)
  progress.end()
  process.stdout.write(
    `re-encrypted ${done.reencrypted} values with the master key ${done.activeKey}; ${done.already} already were\n`,
  )
  for (const [keyId, values] of done.unreadable)
    process.stderr.write(
      `${values} values encrypted with the master key ${keyId} were skipped: the key is not in the key ring, or the values are corrupt\n`,
    )
  return done.unreadable.size === 0 ? 0 : 1
}

const reencryptBucket = async (
  bucket: Bucket,
  ring: KeyRing,
  note: (values: number, all: number) => void,
): Promise<ReencryptionResult> => {
  await reencryptBucketLogKeys(bucket, ring)
  return reencryptBucketSecrets(bucket, ring, note)
}

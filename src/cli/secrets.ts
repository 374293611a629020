import { stat } from 'node:fs/promises'
import { reencryptSecrets } from '../adapters/secrets/reencrypt.js'
import { keyRingOf, secretsFile } from '../composition/secrets.js'
import type { Config } from '../config.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { progressOn } from './progress.js'

/**
 * `tallytree secrets reencrypt`: re-encrypts all values of the data directory with the active master key, also while
 * services use them. Returns the exit code.
 */
export const reencrypt = async (config: Config): Promise<number> => {
  const path = secretsFile(config.dataDirectory)
  if ((await stat(path).catch(() => undefined)) === undefined)
    throw new OperatorError(
      `${config.dataDirectory} does not contain secrets (secrets.db); see TALLYTREE_DATA_DIR`,
    )
  const progress = progressOn(process.stderr, 're-encrypting', undefined, 'values')
  const done = await reencryptSecrets(path, keyRingOf(config), (values, all) =>
    progress.note(values, values / all),
  )
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

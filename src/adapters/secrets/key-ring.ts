import { createSecretKey, type KeyObject } from 'node:crypto'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import type { MasterKeyText } from '../../domain/secrets/master-keys.js'
import { makeMasterKeyFile, readKeyFile } from './key-file.js'

export interface KeyRing {
  /** The key for new values; created if there is none. */
  readonly active: () => MasterKey
  /** Reads the file again for an unknown key, which another process may have created. */
  readonly find: (keyId: string) => MasterKey | undefined
}

/**
 * The keys of the configuration, followed by those of the file. The file is only created when a key is needed and none
 * is configured.
 *
 * @throws OperatorError
 */
export const openKeyRing = (given: readonly MasterKeyText[], file: string): KeyRing => {
  let ring = ringOf(given, readKeyFile(file))
  const readAgain = () => (ring = ringOf(given, readKeyFile(file)))
  return {
    active: () => {
      if (ring.length === 0) readAgain()
      if (ring.length === 0) {
        makeMasterKeyFile(file)
        readAgain()
      }
      return ring[0]!
    },
    find: (keyId) => {
      const withId = ({ id }: MasterKey) => id === keyId
      return ring.find(withId) ?? readAgain().find(withId)
    },
  }
}

const ringOf = (given: readonly MasterKeyText[], inFile: readonly MasterKeyText[]): readonly MasterKey[] => {
  const ring = given.map(masterKey)
  for (const key of inFile.map(masterKey)) {
    const known = ring.find(({ id }) => id === key.id)
    if (known === undefined) ring.push(key)
    else if (!known.key.equals(key.key))
      throw new OperatorError(
        `the master key ${key.id} has different values in TALLYTREE_MASTER_KEYS and in the key file`,
      )
  }
  return ring
}

export interface MasterKey {
  readonly id: string
  /** A KeyObject, because raw bytes would appear wherever the object is logged. */
  readonly key: KeyObject
}

const masterKey = ({ id, base64 }: MasterKeyText): MasterKey => ({
  id,
  key: createSecretKey(Buffer.from(base64, 'base64')),
})

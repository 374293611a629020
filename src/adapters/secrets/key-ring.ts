import { OperatorError } from '../../domain/ports/operator-error.js'
import type { MasterKeyText } from '../../domain/secret/master-keys.js'
import { makeKeyFile, readKeyFile } from './key-file.js'
import { masterKey, type MasterKey } from './master-key.js'

export interface KeyRing {
  /** The key that new values are encrypted under; where there is none yet, it is made. */
  readonly active: () => MasterKey
  /** Looks into the file once more for a key that was not known: another process may have made it. */
  readonly find: (keyId: string) => MasterKey | undefined
}

/**
 * The keys of the configuration, and behind them those of the file, which is made only where there is no other key and
 * one is needed.
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
        makeKeyFile(file)
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

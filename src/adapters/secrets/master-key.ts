import { createSecretKey, type KeyObject } from 'node:crypto'
import type { MasterKeyText } from '../../domain/secrets/master-keys.js'

export interface MasterKey {
  readonly id: string
  /** A KeyObject, because raw bytes would appear wherever the object is logged. */
  readonly key: KeyObject
}

export const masterKey = ({ id, base64 }: MasterKeyText): MasterKey => ({
  id,
  key: createSecretKey(Buffer.from(base64, 'base64')),
})

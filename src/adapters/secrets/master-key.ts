import { createSecretKey, type KeyObject } from 'node:crypto'
import type { MasterKeyText } from '../../domain/secret/master-keys.js'

export interface MasterKey {
  readonly id: string
  /** Not the bytes, which would show up wherever an object is printed. */
  readonly key: KeyObject
}

export const masterKey = ({ id, base64 }: MasterKeyText): MasterKey => ({
  id,
  key: createSecretKey(Buffer.from(base64, 'base64')),
})

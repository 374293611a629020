import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { SecretUnreadable, type SecretVersion } from '../../kernel/ports/secret-store.js'
import type { MasterKey } from './key-ring.js'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Associated data: an envelope copied to another team, name or version cannot be decrypted. */
const boundTo = ({ team, name, version }: SecretVersion) => Buffer.from(`${team}|${name}|${version}`)

/** Encrypts with AES-256-GCM: `v1.<key id>.<nonce>.<ciphertext>.<tag>`, the last three in base64url. */
export const seal = (master: MasterKey, secret: SecretVersion, value: string): string => {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, master.key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(boundTo(secret))
  const ciphertext = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
  const parts = [nonce, ciphertext, cipher.getAuthTag()].map((part) => part.toString('base64url'))
  return ['v1', master.id, ...parts].join('.')
}

/** The id of an envelope's key, without checking the envelope. */
export const keyIdOf = (envelope: string): string => envelope.split('.')[1] ?? ''

/** @throws SecretUnreadable naming the key, if the envelope was modified or its key is missing */
export const unseal = (
  find: (keyId: string) => MasterKey | undefined,
  secret: SecretVersion,
  envelope: string,
): string => {
  const [form, keyId = '', ...rest] = envelope.split('.')
  const [nonce, ciphertext, tag] = rest.map(bytesOf)
  if (form !== 'v1' || rest.length !== 3 || nonce?.length !== NONCE_BYTES || tag?.length !== TAG_BYTES)
    throw unreadable(secret, 'has an unknown format or is corrupt')
  if (ciphertext === undefined) throw unreadable(secret, 'is corrupt')
  const master = find(keyId)
  if (master === undefined)
    throw unreadable(secret, `is encrypted with the master key ${shown(keyId)}, which is not in the key ring`)
  try {
    const decipher = createDecipheriv(CIPHER, master.key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(boundTo(secret))
    decipher.setAuthTag(tag)
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
  } catch {
    throw unreadable(
      secret,
      `cannot be decrypted: the master key ${shown(keyId)} differs from the original one, or the value is corrupt`,
    )
  }
}

/** Undefined for a non-canonical encoding. */
const bytesOf = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

const shown = (keyId: string) => (/^[A-Za-z0-9_-]{1,64}$/.test(keyId) ? `"${keyId}"` : 'with an invalid id')

const unreadable = ({ team, name, version }: SecretVersion, why: string) =>
  new SecretUnreadable(`version ${version} of the secret ${name} of team ${team} ${why}`)

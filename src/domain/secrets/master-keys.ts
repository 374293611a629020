import * as t from 'io-ts'
import { Codec, refuse } from '../../kernel/codec/codec.js'

/** A 32-byte key that encrypts secret values. Its name is stored with each value. */
export interface MasterKeyText {
  readonly id: string
  /** Base64 or base64url, padded or not. */
  readonly base64: string
}

const ONE = /^([A-Za-z0-9_-]{1,64}):([A-Za-z0-9+/_-]{43})=?$/

const RULE =
  'must be id:key,id:key with unique ids of 1 to 64 letters, digits, underscores or hyphens and keys of 32 ' +
  'bytes in base64; new values are encrypted with the first key'

const parse = (text: string): readonly MasterKeyText[] | undefined => {
  const keys = text
    .trim()
    .split(/\s*[,\n]\s*/)
    .map((one) => ONE.exec(one))
    .map((found) => (found === null ? undefined : { id: found[1]!, base64: found[2]! }))
  const whole = keys.filter((key) => key !== undefined)
  const ids = new Set(whole.map(({ id }) => id))
  return whole.length === keys.length && ids.size === keys.length ? whole : undefined
}

/** A ring of master keys as text, the active one first, separated by commas or newlines. Errors never quote it. */
export const masterKeys = new Codec<readonly MasterKeyText[]>(
  'master keys',
  (u): u is readonly MasterKeyText[] => Array.isArray(u),
  (u, c) => {
    const keys = typeof u === 'string' ? parse(u) : undefined
    return keys === undefined ? refuse(u, c, 'value_error', RULE) : t.success(keys)
  },
  { type: 'string' },
)

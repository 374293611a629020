import * as t from 'io-ts'
import { Codec, refuse } from '../kernel/codec/codec.js'

export const ROLES = ['api', 'projector', 'dispatcher'] as const
export type Role = (typeof ROLES)[number]

/** A comma-separated list of roles. */
export const roles = new Codec<ReadonlySet<Role>>(
  'roles',
  (u): u is ReadonlySet<Role> => u instanceof Set,
  (u, c) => {
    const words = String(u)
      .split(',')
      .map((word) => word.trim())
    return words.every((word): word is Role => (ROLES as readonly string[]).includes(word))
      ? t.success(new Set(words))
      : refuse(u, c, 'value_error', `must be a comma-separated list of ${ROLES.join(', ')}`)
  },
  { type: 'string' },
)

import { nullable } from '../../kernel/codec/containers.js'
import { oneOf } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { Failure } from '../../application/failure.js'

/** Removes something that others use, too. */
export const forced = open('Forced', { optional: { force: nullable(oneOf('true', 'false')) } })

export interface User {
  readonly kind: 'automation' | 'webhook' | 'upstream'
  readonly id: string
  readonly name: string
}

/** The refusal to remove something that others use; the body lists them. */
export const inUse = (what: string, users: readonly User[]): Failure =>
  new Failure('conflict', `${what}. Change them first, or repeat the request with ?force=true.`, {
    body: { used_by: users.map((user) => ({ ...user })) },
  })

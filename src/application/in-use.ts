import { Failure } from './failure.js'

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

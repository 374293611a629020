import type { SecretName, SecretVersion } from '../../kernel/ports/secret-store.js'
import type { SecretUse } from './events.js'

/** The value is already durable in the secret store; the log never has it. */
export interface StoreSecret extends SecretVersion {
  readonly type: 'StoreSecret'
  /** Derived from the Idempotency-Key; null without one. */
  readonly request: string | null
  /** Null to keep them. */
  readonly usedFor: readonly SecretUse[] | null
}

export interface ChangeSecretUses extends SecretName {
  readonly type: 'ChangeSecretUses'
  readonly usedFor: readonly SecretUse[]
}

export interface DestroySecret extends SecretName {
  readonly type: 'DestroySecret'
}

export type SecretCommand = StoreSecret | ChangeSecretUses | DestroySecret

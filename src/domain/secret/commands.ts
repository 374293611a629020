import type { SecretName, SecretVersion } from '../ports/secret-store.js'

/** The value of this version is durable already; the log never sees it. */
export interface StoreSecret extends SecretVersion {
  readonly type: 'StoreSecret'
  /** Made of the Idempotency-Key; null without one. */
  readonly request: string | null
}

export interface DestroySecret extends SecretName {
  readonly type: 'DestroySecret'
}

export type SecretCommand = StoreSecret | DestroySecret

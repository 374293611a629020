/** One version of a secret of a team; versions count from 1. */
export interface SecretVersion {
  readonly team: string
  readonly name: string
  readonly version: number
}

/**
 * Where secret values lie, encrypted and outside the log: what is destroyed here is gone.
 */
export interface SecretStore {
  /** Durable when it resolves. The same version again replaces the value. */
  put(secret: SecretVersion, value: string): Promise<void>
  /** Undefined for one that was never there, or was destroyed. */
  get(secret: SecretVersion): Promise<string | undefined>
  /** All versions of a secret, for good. */
  destroy(secret: Pick<SecretVersion, 'team' | 'name'>): Promise<void>
}

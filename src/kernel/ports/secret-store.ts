import { OperatorError } from './operator-error.js'

/** A version of a team's secret. Versions count from 1. */
export interface SecretVersion {
  readonly team: string
  readonly name: string
  readonly version: number
}

export type SecretName = Pick<SecretVersion, 'team' | 'name'>

/** A stored version, without its value. */
export interface HeldSecret extends SecretVersion {
  readonly storedAt: Date
  /** Whether the log is known to contain it. */
  readonly confirmed: boolean
}

/**
 * Encrypted secret values. They are kept outside the log so that they can be destroyed. Several processes may share a
 * store. Throws `SecretsUnavailable`; `get` also throws `SecretUnreadable`.
 */
export interface SecretStore {
  /** True when durable; false, without a change, if this version already has a value. */
  put(secret: SecretVersion, value: string): Promise<boolean>
  /** Undefined if it was never stored or was destroyed. */
  get(secret: SecretVersion): Promise<string | undefined>
  /** Records that the log contains a version. */
  confirm(secret: SecretVersion): Promise<void>
  /** Destroys versions: their values are overwritten in the store's files. */
  destroy(secrets: readonly SecretVersion[]): Promise<void>
  /** The teams that have values, sorted by name. */
  teams(): Promise<readonly string[]>
  /** The names of a team's secrets after `after`, sorted, each with the time of its oldest value. */
  names(
    team: string,
    page: { readonly after: string | undefined; readonly limit: number },
  ): Promise<readonly { readonly name: string; readonly since: Date }[]>
  /** The stored versions of a secret, ascending. */
  versions(secret: SecretName): Promise<readonly HeldSecret[]>
  close(): Promise<void>
}

/** The secret store cannot be read or written at present. */
export class SecretsUnavailable extends OperatorError {
  override readonly name = 'SecretsUnavailable'
}

/** A value cannot be decrypted: its master key is missing or different, or the value was modified. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable'
}

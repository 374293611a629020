import { OperatorError } from './operator-error.js'

/** One version of a secret of a team; versions count from 1. */
export interface SecretVersion {
  readonly team: string
  readonly name: string
  readonly version: number
}

export type SecretName = Pick<SecretVersion, 'team' | 'name'>

/** A value that is there, without the value. */
export interface HeldSecret extends SecretVersion {
  readonly storedAt: Date
  /** The log was seen to know of it. */
  readonly confirmed: boolean
}

/**
 * Where secret values lie, encrypted and outside the log: what is destroyed here is gone. Several processes may use one
 * store. Failures are `SecretsUnavailable`, and of `get` also `SecretUnreadable`.
 */
export interface SecretStore {
  /** True once it is durable; false, and nothing is changed, where this version has a value already. */
  put(secret: SecretVersion, value: string): Promise<boolean>
  /** Undefined for one that was never there, or was destroyed. */
  get(secret: SecretVersion): Promise<string | undefined>
  /** Notes that the log knows of a version. */
  confirm(secret: SecretVersion): Promise<void>
  /** These versions, for good: nothing of them is left in the store's files. */
  destroy(secrets: readonly SecretVersion[]): Promise<void>
  /** The teams that have values, by name. */
  teams(): Promise<readonly string[]>
  /** The names of a team that have values, those behind `after`, by name, each with the time of its oldest value. */
  names(
    team: string,
    page: { readonly after: string | undefined; readonly limit: number },
  ): Promise<readonly { readonly name: string; readonly since: Date }[]>
  /** The versions of a secret that have values, in order. */
  versions(secret: SecretName): Promise<readonly HeldSecret[]>
  close(): Promise<void>
}

/** The store cannot be used now. */
export class SecretsUnavailable extends OperatorError {
  override readonly name = 'SecretsUnavailable'
}

/** A value cannot be decrypted: its master key is missing from the ring, or is another one, or the value was changed. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable'
}

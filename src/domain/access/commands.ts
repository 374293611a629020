import type { ApiKeyIssued } from './events.js'
import type { Role } from './roles.js'

/** A key as the log may know it, made before the command. */
export type NewApiKey = Omit<ApiKeyIssued, 'user'>

/** Makes the administrator with a first key and a first team; only in an empty directory. */
export interface Bootstrap {
  readonly type: 'Bootstrap'
  readonly user: string
  readonly team: string
  readonly key: NewApiKey
}

export interface CreateTeam {
  readonly type: 'CreateTeam'
  /** The user who asks; the right to it is judged where the command is decided. */
  readonly by: string
  readonly team: string
}

/** Gives a user exactly these roles in a team; the key is for a user who does not exist yet. */
export interface AddMember {
  readonly type: 'AddMember'
  readonly by: string
  readonly team: string
  readonly user: string
  readonly roles: readonly Role[]
  readonly keyOfNewUser: NewApiKey
}

export interface RemoveMember {
  readonly type: 'RemoveMember'
  readonly by: string
  readonly team: string
  readonly user: string
}

export interface IssueApiKey {
  readonly type: 'IssueApiKey'
  readonly user: string
  readonly key: NewApiKey
}

export interface RevokeApiKey {
  readonly type: 'RevokeApiKey'
  readonly user: string
  readonly key_id: string
}

export type AccessCommand = Bootstrap | CreateTeam | AddMember | RemoveMember | IssueApiKey | RevokeApiKey

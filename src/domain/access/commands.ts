import type { Instant } from '../../kernel/codec/instant.js'
import type { ApiKeyIssued, ProjectDeleted } from './events.js'
import type { Role } from './roles.js'

/** An API key, generated before the command. The log only sees its hash. */
export type NewApiKey = Omit<ApiKeyIssued, 'user'>

/** Creates the administrator with a first key and a first team. Refused unless the directory is empty. */
export interface Bootstrap {
  readonly type: 'Bootstrap'
  readonly user: string
  readonly team: string
  readonly key: NewApiKey
}

export interface CreateTeam {
  readonly type: 'CreateTeam'
  /** The user who sends the command; `decide` checks their rights. */
  readonly by: string
  readonly team: string
}

/** Replaces a user's roles in a team. `keyOfNewUser` is the first key of a user who does not exist yet. */
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

/** A session was used. */
export interface RenewSession {
  readonly type: 'RenewSession'
  readonly user: string
  readonly key_id: string
  readonly expires_at: Instant
}

/** An API key was used. */
export interface RecordKeyUse {
  readonly type: 'RecordKeyUse'
  readonly user: string
  readonly key_id: string
  readonly used_at: Instant
}

/** Revokes a key or ends a session. The sessions that a key opened end with it. */
export interface RevokeApiKey {
  readonly type: 'RevokeApiKey'
  readonly by: string
  readonly user: string
  readonly key_id: string
  /** Also revokes the keys that it made, directly or not. */
  readonly cascade: boolean
}

/** A deleted project stays deleted. */
export interface DeleteProject {
  readonly type: 'DeleteProject'
  readonly deleted: ProjectDeleted
}

export type AccessCommand =
  | DeleteProject
  | Bootstrap
  | CreateTeam
  | AddMember
  | RemoveMember
  | IssueApiKey
  | RevokeApiKey
  | RenewSession
  | RecordKeyUse

import type * as t from 'io-ts'
import { arrayOf, nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { EventOf } from '../../kernel/decider.js'
import { textLike, textUpToCharacters } from '../../kernel/codec/text.js'
import { id, projectId, teamName } from '../../kernel/ids.js'
import { role } from './roles.js'

/** `system` is the actor of events that no user caused. */
export const userName = textLike(
  'user',
  /^(?!system$)[A-Za-z0-9._@+-]{1,128}$/,
  "String should have 1 to 128 letters, digits or characters of '._@+-', and not be 'system'",
)

export const keyName = textUpToCharacters(128)

const sha256Hex = textLike('sha256', /^[0-9a-f]{64}$/, 'String should be a SHA-256 in lower-case hexadecimal')

const teamCreated = open('TeamCreated', {
  says: 'A team was created: the entity of its projects.',
  required: { team: teamName },
})

const userCreated = open('UserCreated', {
  says: 'A user was created. An administrator has access to every team.',
  required: { user: userName },
  optional: { administrator: withDefault(boolean, false) },
})

const memberAdded = open('MemberAdded', {
  says: 'A user was added to a team or got other roles there. `roles` replaces earlier roles.',
  required: { team: teamName, user: userName, roles: arrayOf(role, 1) },
})

const memberRemoved = open('MemberRemoved', {
  says: 'A user was removed from a team.',
  required: { team: teamName, user: userName },
})

export const keyKind = oneOf('key', 'session')

/** A key of the scope `training_worker` can only claim training jobs and work on them. */
export const keyScope = oneOf('all', 'training_worker')
export type KeyScope = t.TypeOf<typeof keyScope>

export const apiKeyIssued = open('ApiKeyIssued', {
  says: 'An API key was issued to a user. The key itself is not stored: `hash` is its SHA-256, `prefix` its first characters. `made_by` is the id of the key or session that made it; null where the command line or an earlier release did.',
  required: { key_id: id, user: userName, prefix: string, hash: sha256Hex, issued_at: instant },
  optional: {
    name: nullableText(keyName),
    /** A `session` is the key in the cookie of a browser. */
    kind: withDefault(keyKind, 'key'),
    scope: withDefault(keyScope, 'all' as const),
    expires_at: nullable(instant),
    /** The key or session of the request that made it. */
    made_by: nullable(id),
  },
})

const sessionRenewed = open('SessionRenewed', {
  says: 'A session was used, so it expires later.',
  required: { key_id: id, user: userName, expires_at: instant },
})

const apiKeyUsed = open('ApiKeyUsed', {
  says: 'An API key was used. Written for the first use of a day in UTC.',
  required: { key_id: id, user: userName, used_at: instant },
})

const apiKeyRevoked = open('ApiKeyRevoked', {
  says: 'An API key was revoked permanently.',
  required: { key_id: id, user: userName },
})

const projectDeleted = open('ProjectDeleted', {
  says:
    'A project was deleted. It can no longer be read or written, its name is not used again, and an erasure removes its content. ' +
    'Figures of usage stay.',
  required: {
    team: teamName,
    project_id: projectId,
    /** The erasure of its content. */
    erasure_id: id,
    deleted_at: instant,
    deleted_by: userName,
  },
  optional: { reason: nullableText(string) },
})
export type ProjectDeleted = t.TypeOf<typeof projectDeleted>

export const accessEvents = {
  TeamCreated: teamCreated,
  UserCreated: userCreated,
  MemberAdded: memberAdded,
  MemberRemoved: memberRemoved,
  ApiKeyIssued: apiKeyIssued,
  ApiKeyUsed: apiKeyUsed,
  ApiKeyRevoked: apiKeyRevoked,
  SessionRenewed: sessionRenewed,
  ProjectDeleted: projectDeleted,
}

export type ApiKeyIssued = t.TypeOf<typeof apiKeyIssued>

export type AccessEvent = EventOf<typeof accessEvents>

/** The single stream of all users, teams and keys. */
export const ACCESS_STREAM = 'access-directory'

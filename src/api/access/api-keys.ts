import type { ApiKey, Directory } from '../../domain/access/directory.js'
import { keyKind, keyName, keyScope, userName, type ApiKeyIssued } from '../../domain/access/events.js'
import { keysOf, latestExpiry, madeBy, membersOf, rolesIn, sessionsOf } from '../../domain/access/look-ups.js'
import { mayRevokeKeysOf } from '../../domain/access/rights.js'
import { nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { boolean, int64, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import type { Services } from '../../application/services.js'
import { Failure, invalidField } from '../../application/failure.js'
import { makeKey } from '../../application/access/new-key.js'
import { administratorKey, anyKey, roleInTeam } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, idempotent, writeDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { repeatableId } from '../server/idempotency.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'

const PATH = '/api/users/me/api-keys'

const newApiKey = closed('NewApiKey', {
  says:
    'With the scope `training_worker` the key can only claim training jobs and work on them. From `expires_at` on it is ' +
    'not valid, at the latest from that of the key that makes it; without either, it is valid until it is revoked.',
  optional: {
    name: nullableText(keyName),
    scope: withDefault(keyScope, 'all' as const),
    expires_at: nullable(instant),
  },
})

const fields = {
  required: {
    id,
    kind: keyKind,
    name: nullable(keyName),
    prefix: string,
    scope: keyScope,
    created_at: instant,
    expires_at: nullable(instant),
    made_by: nullable(id),
  },
}
const apiKey = open('ApiKey', {
  says:
    '`last_used_at` is the first use of the last day on which the key was used, null before the first. `made_by` is the key ' +
    'or session that made it, and `made` is how many valid keys and sessions it made, directly or not.',
  required: { ...fields.required, last_used_at: nullable(instant), made: int64 },
})
const createdApiKey = open('CreatedApiKey', { required: { ...fields.required, api_key: nullable(string) } })

const shown = ({ key_id, kind, name, prefix, scope, issued_at, expires_at, made_by }: ApiKeyIssued) => ({
  id: key_id,
  kind,
  name,
  prefix,
  scope,
  created_at: issued_at,
  expires_at,
  made_by,
})

const listed = (directory: Directory, key: ApiKey) => ({
  ...shown(key),
  last_used_at: key.last_used_at,
  made: [...madeBy(directory, key.key_id)].length,
})

export const listApiKeys = (services: Pick<Services, 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary:
      "Lists the caller's API keys that are not revoked, by name and prefix, never the keys themselves.",
    query: pageQuery,
    response: pageOf(apiKey),
    authorization: anyKey,
    handle: ({ query: { after, limit }, principal: { userId } }) => {
      const directory = services.access.directory()
      const { data, next } = takePage(keysOf(directory, userId, after), {
        limit,
        keyOf: ({ key_id }) => key_id,
      })
      return { body: { data: data.map((key) => listed(directory, key)), next } }
    },
  })

const OF_USER = '/api/users/:user/api-keys'

export const listCredentials = (services: Pick<Services, 'access' | 'clock'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: OF_USER,
    summary:
      "Lists a user's API keys and sessions, with what made each. Needs the administrator key. An unknown user has none.",
    query: pageQuery,
    response: pageOf(apiKey),
    authorization: administratorKey,
    handle: ({ params, query: { after, limit } }) => {
      const directory = services.access.directory()
      const user = params['user']!
      const all = [
        ...keysOf(directory, user),
        ...sessionsOf(directory, user, instantOf(services.clock.now())),
      ]
      const sorted = all
        .filter(({ key_id }) => after === undefined || key_id > after)
        .sort((one, other) => (one.key_id < other.key_id ? -1 : 1))
      const { data, next } = takePage(sorted, { limit, keyOf: ({ key_id }) => key_id })
      return { body: { data: data.map((key) => listed(directory, key)), next } }
    },
  })

const OF_TEAM = '/api/teams/:team/api-keys'

const teamApiKey = open('TeamApiKey', {
  says: '`can_revoke` is whether the caller may revoke the key.',
  required: { user: userName, ...fields.required, last_used_at: nullable(instant), can_revoke: boolean },
})

export const listTeamKeys = (services: Pick<Services, 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: OF_TEAM,
    summary:
      "Lists the API keys of a team's members that are not revoked, by id, with their last use. Each is valid in all teams of " +
      'its user. Needs the role team_administrator.',
    query: pageQuery,
    response: pageOf(teamApiKey),
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: ({ team, query: { after, limit }, principal: { userId } }) => {
      const directory = services.access.directory()
      const keys = [...membersOf(directory, team)]
        .flatMap(({ user }) => [...keysOf(directory, user, after)])
        .sort((one, other) => (one.key_id < other.key_id ? -1 : 1))
      const { data, next } = takePage(keys, { limit, keyOf: ({ key_id }) => key_id })
      const shownKeys = data.map((key) => ({
        user: key.user,
        ...shown(key),
        last_used_at: key.last_used_at,
        can_revoke: mayRevokeKeysOf(directory, userId, key.user),
      }))
      return { body: { data: shownKeys, next } }
    },
  })

export const createApiKey = (
  services: Pick<Services, 'clock' | 'ids' | 'sha256' | 'access' | 'randomKey'>,
): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: PATH,
    summary:
      'Creates an API key for the caller. The key is returned once; a retry with the same Idempotency-Key returns ' +
      'its id without the key. A retry with a different name, scope or expiry is a conflict.',
    body: newApiKey,
    ...idempotent,
    response: createdApiKey,
    authorization: anyKey,
    handle: (request) => {
      const { name, scope, expires_at } = request.body
      const { userId: user, keyId: made_by } = request.principal
      const id = repeatableId(services, request)
      const { key, known } = makeKey(services, name, id)
      if (expires_at !== null && expires_at <= known.issued_at)
        throw invalidField(['expires_at'], 'value_error', 'Input should be in the future')
      const latest = latestExpiry(services.access.directory(), made_by)
      if (expires_at !== null && latest !== null && expires_at > latest)
        throw invalidField(
          ['expires_at'],
          'value_error',
          `Input should be at most ${latest}, when the API key of this request expires`,
        )
      const command = { type: 'IssueApiKey', user, key: { ...known, scope, expires_at, made_by } } as const
      return writing(
        (cause) => services.access.run(command, cause),
        ({ state, events: [issued] }) => {
          const kept = issued?.type === 'ApiKeyIssued' ? issued.data : state.keys.get(id)!
          const api_key = kept.hash === known.hash ? key : null
          return { ...shown(kept), api_key }
        },
      )
    },
  })

const revocation = closed('Revocation', {
  optional: { cascade: withDefault(oneOf('true', 'false'), 'false') },
})

const revoked = open('Revoked', {
  says:
    '`revoked` is how many keys and sessions ended: the key, the sessions that it opened, and with `cascade` the keys that it ' +
    'made, directly or not. `still_valid` is how many of those keys remain: without `cascade` all, and with it the first ' +
    'keys of other users, unless the administrator asks.',
  required: { revoked: int64, still_valid: int64 },
})

const revokesKeys =
  (services: Pick<Services, 'access'>) => (by: string, user: string, key_id: string, cascade: boolean) => {
    const before = [...madeBy(services.access.directory(), key_id)]
    const command = { type: 'RevokeApiKey', by, user, key_id, cascade } as const
    return writing(
      (cause) => services.access.run(command, cause),
      ({ events }) => {
        const ended = new Set(events.flatMap((one) => (one.type === 'ApiKeyRevoked' ? one.data.key_id : [])))
        const still = before.filter((key) => key.kind === 'key' && !ended.has(key.key_id))
        const sessions = before.filter((key) => key.kind === 'session' && ended.has(key.made_by ?? ''))
        return { revoked: ended.size + sessions.length, still_valid: still.length }
      },
    )
  }

export const revokeApiKey = (services: Pick<Services, 'access'>): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: `${PATH}/:id`,
    summary:
      "Revokes one of the caller's API keys with the sessions that it opened, and with `?cascade=true` also the keys that it " +
      'made: immediately in this process, within a second in the others.',
    query: revocation,
    errors: ['not-found', 'conflict'],
    response: revoked,
    authorization: anyKey,
    handle: ({ params, query: { cascade }, principal: { userId: user } }) =>
      revokesKeys(services)(user, user, params['id']!, cascade === 'true'),
  })

export const revokeCredential = (services: Pick<Services, 'access'>): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: `${OF_USER}/:id`,
    summary:
      "Revokes a user's API key or ends their session, as the user does, and with `?cascade=true` also the keys that it made. " +
      'Needs the administrator key.',
    query: revocation,
    errors: ['not-found', 'conflict'],
    response: revoked,
    authorization: administratorKey,
    handle: ({ params, query: { cascade }, principal: { userId: by } }) =>
      revokesKeys(services)(by, params['user']!, params['id']!, cascade === 'true'),
  })

export const revokeTeamKey = (services: Pick<Services, 'access'>): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: `${OF_TEAM}/:id`,
    summary:
      "Revokes an API key of a member of the team, as the user does, and with `?cascade=true` also the user's keys that it " +
      'made. Needs the role team_administrator in all teams of the user, or the administrator key.',
    query: revocation,
    errors: ['not-found', 'conflict'],
    response: revoked,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: ({ team, params, query: { cascade }, principal: { userId: by } }) => {
      const directory = services.access.directory()
      const id = params['id']!
      const key = directory.keys.get(id)
      const user = key?.kind === 'session' ? undefined : (key?.user ?? directory.revoked.get(id))
      if (user === undefined || rolesIn(directory, user, team).length === 0)
        throw new Failure('not-found', 'API key not found.')
      if (!mayRevokeKeysOf(directory, by, user))
        throw new Failure(
          'forbidden',
          `The keys of ${user} are valid in teams that you do not administer. Revoking them requires the administrator key.`,
        )
      return revokesKeys(services)(by, user, id, cascade === 'true')
    },
  })

import type { ApiKey } from '../../domain/access/directory.js'
import { keyKind, keyName, keyScope } from '../../domain/access/events.js'
import { keysOf } from '../../domain/access/look-ups.js'
import { nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import type { Services } from '../../application/services.js'
import { invalidField } from '../../application/failure.js'
import { makeKey } from '../../application/access/new-key.js'
import { anyKey } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { repeatableId } from '../server/idempotency.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'

const PATH = '/api/users/me/api-keys'

const newApiKey = closed('NewApiKey', {
  says:
    'With the scope `training_worker` the key can only claim training jobs and work on them. From `expires_at` on it is ' +
    'not valid; without it, until it is revoked.',
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
  },
}
const apiKey = open('ApiKey', {
  says: '`last_used_at` is the first use of the last day on which the key was used, null before the first.',
  required: { ...fields.required, last_used_at: nullable(instant) },
})
const createdApiKey = open('CreatedApiKey', { required: { ...fields.required, api_key: nullable(string) } })

const shown = ({ key_id, kind, name, prefix, scope, issued_at, expires_at }: ApiKey) => ({
  id: key_id,
  kind,
  name,
  prefix,
  scope,
  created_at: issued_at,
  expires_at,
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
    handle: ({ query, principal: { userId } }) => {
      const directory = services.access.directory()
      const { data, next } = takePage(
        query,
        (after) => keysOf(directory, userId, after),
        ({ key_id }) => key_id,
      )
      return { body: { data: data.map((key) => ({ ...shown(key), last_used_at: key.last_used_at })), next } }
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
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: createdApiKey,
    authorization: anyKey,
    handle: ({ body: { name, scope, expires_at }, headers, principal: { userId: user } }) => {
      const id = repeatableId(services, user, headers['idempotency-key'])
      const { key, known } = makeKey(services, name, id)
      if (expires_at !== null && expires_at <= known.issued_at)
        throw invalidField(['body', 'expires_at'], 'value_error', 'Input should be in the future')
      const command = { type: 'IssueApiKey', user, key: { ...known, scope, expires_at } } as const
      return writing((cause) => services.access.run(command, cause), {
        respond: ({ state }) => {
          const kept = state.keys.get(id)!
          const api_key = kept.hash === known.hash ? key : null
          return { body: { ...shown(kept), api_key } }
        },
      })
    },
  })

export const revokeApiKey = (services: Pick<Services, 'access'>): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: `${PATH}/:id`,
    summary:
      "Revokes one of the caller's API keys: immediately in this process, within a second in the others.",
    errors: ['not-found', 'conflict'],
    response: emptyResponse,
    authorization: anyKey,
    handle: ({ params, principal: { userId: user } }) => {
      const command = { type: 'RevokeApiKey', user, key_id: params['id']! } as const
      return writing((cause) => services.access.run(command, cause))
    },
  })

import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { secretsOf, usesOfSecret } from '../../application/secrets/secret-uses.js'
import type { AnyRoute } from '../server/route.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { changeSecretUses, destroySecret, storeNextVersion } from '../../application/secrets/write-secret.js'
import { secretUse, secretName, secretStream, type SecretUse } from '../../domain/secrets/secret.js'
import { inUse, type User } from '../../application/in-use.js'
import { forced } from '../server/in-use.js'
import { roleInTeam } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { idempotent, writeDirectory, readDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import type { Services } from '../../application/services.js'
import { instant } from '../../kernel/codec/instant.js'
import { integerBetween, oneOf, string } from '../../kernel/codec/leaves.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'
import { decode, Codec, refuse } from '../../kernel/codec/codec.js'
import type { SecretName } from '../../kernel/ports/secret-store.js'
import { BEARER_EXPECTED, isBearer } from '../../domain/secrets/bearer.js'
import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import { idFromKey } from '../server/idempotency.js'
import { invalid, invalidField, Failure } from '../../application/failure.js'
import { utf8Bytes } from '../../kernel/codec/text.js'
import { headerSecrets } from '../../domain/secrets/static-headers.js'
import { secretsInExtras } from '../../domain/gateway/upstreams/extras.js'
import { webhooksOf } from '../../application/webhooks/current-state.js'

const PATH = '/api/teams/:team/secrets'

const MOST_BYTES = 8192

/**
 * The value must have 1 to 8 KiB of UTF-8. U+FFFD indicates that the body was not valid UTF-8, so that the value
 * differs from the intended one. White space at the ends is that of a file or of `echo`, and no receiver expects it.
 */
const problemOf = (value: string): readonly [type: string, msg: string] | undefined => {
  if (value === '') return ['string_too_short', 'String should have at least 1 character']
  if (value.includes('\0') || value.includes('\ufffd'))
    return ['string_pattern_mismatch', 'String should be well-formed text, without NUL and U+FFFD']
  if (value !== value.trim())
    return [
      'string_pattern_mismatch',
      'String should have no white space at its ends, such as the line break of a file',
    ]
  if (value.length > MOST_BYTES || utf8Bytes(value) > MOST_BYTES)
    return ['string_too_long', `String should have at most ${MOST_BYTES} bytes`]
  return undefined
}

const secretValue: Codec<string> = new Codec(
  'string',
  (u): u is string => string.is(u) && problemOf(u) === undefined,
  (u, c) => {
    if (!string.is(u)) return string.validate(u, c)
    const problem = problemOf(u)
    return problem === undefined ? t.success(u) : refuse(u, c, ...problem)
  },
  {
    type: 'string',
    minLength: 1,
    maxLength: MOST_BYTES,
    pattern: '^[^\\s\\u0000\\uFFFD]([^\\u0000\\uFFFD]*[^\\s\\u0000\\uFFFD])?$',
    writeOnly: true,
    description: `Text of at most ${MOST_BYTES} bytes, without NUL, U+FFFD and white space at its ends. Never returned.`,
  },
)

type UserServices = Pick<GatewayServices, 'eventStore' | 'ids' | 'gateway'>

/** The webhooks and upstreams of the team that name a secret which has a value. */
const usersOf = async (services: UserServices, { team, name }: SecretName): Promise<readonly User[]> => {
  if ((await usesOfSecret(services, team, name)) === undefined) return []
  const webhooks = (await webhooksOf(services, team)).filter(
    ({ content: { access_token, secret, headers } }) =>
      access_token === name || secret === name || headerSecrets(headers).includes(name),
  )
  const upstreams = [...services.gateway.upstreams.all().values()].filter(
    ({ team: owner, content }) =>
      owner === team && (content.secret === name || secretsInExtras(content).includes(name)),
  )
  return [
    ...webhooks.map(({ id, content }) => ({ kind: 'webhook' as const, id, name: content.name })),
    ...upstreams.map(({ id, content }) => ({ kind: 'upstream' as const, id, name: content.name })),
  ]
}

const USES = { webhook: 'webhooks', upstream: 'upstreams', automation: undefined } as const

/** Refuses to take away a use that webhooks or upstreams have. */
const requireKeptUses = async (
  services: UserServices,
  secret: SecretName,
  usedFor: readonly SecretUse[],
): Promise<void> => {
  const users = (await usersOf(services, secret)).filter(({ kind }) => {
    const use = USES[kind]
    return use !== undefined && !usedFor.includes(use)
  })
  if (users.length > 0)
    throw new Failure(
      'conflict',
      'Webhooks or upstreams use this secret for something else. Change them first.',
      { body: { used_by: users.map((user) => ({ ...user })) } },
    )
}

const newValue = closed('SecretValue', {
  says:
    'A value, and what it may be used for: `webhooks`, `upstreams` and `scorers`. Without `used_for` that stays; a new ' +
    'secret is for webhooks and upstreams.',
  required: { value: secretValue },
  optional: { used_for: nullable(arrayOf(secretUse, 1)) },
})
const stored = open('StoredSecret', {
  required: { name: secretName, version: integerBetween(1, 2 ** 31 - 1) },
})

const storeSecret = (
  services: Pick<GatewayServices, 'eventStore' | 'ids' | 'sha256' | 'access' | 'secrets' | 'gateway'>,
): AnyRoute => {
  const mutex = new KeyedMutex()
  return writeDirectory({
    method: 'put',
    path: `${PATH}/:name`,
    summary:
      'Stores a value as the next version of a named secret of a team; no response contains it. A retry with the same ' +
      'Idempotency-Key writes nothing. A secret used by an upstream must be valid in a header. Needs the role ' +
      'team_administrator.',
    body: newValue,
    ...idempotent,
    response: stored,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async (route) => {
      const { team, body, params } = route
      const { value, used_for: usedFor } = body
      const secret = { team, name: nameIn(params) }
      requireSendable(services, secret, value)
      if (usedFor !== null) await requireKeptUses(services, secret, usedFor)
      const request = idFromKey(services, route) ?? null
      return async (cause) => {
        const { version, position } = await mutex.runExclusive(secretStream(team, secret.name), () =>
          storeNextVersion(services, secret, { value, request, usedFor }, cause),
        )
        return { body: { name: secret.name, version }, position }
      }
    },
  })
}

const nameIn = (params: Readonly<Record<string, string>>): string => {
  const decoded = decode(secretName)(params['name'])
  if (E.isRight(decoded)) return decoded.right
  throw invalid(decoded.left.map((problem) => ({ ...problem, loc: ['path', 'name'] })))
}

/** The secret of an upstream is sent as a bearer token. */
const requireSendable = (
  { gateway }: Pick<GatewayServices, 'gateway'>,
  { team, name }: SecretName,
  value: string,
): void => {
  const sentTo = [...gateway.upstreams.all().values()].find(
    (one) => one.team === team && one.content.secret === name,
  )
  if (sentTo !== undefined && !isBearer(value))
    throw invalidField(
      ['value'],
      'value_error',
      `The upstream ${sentTo.content.name} uses this secret in a header: it should be ${BEARER_EXPECTED}`,
    )
}

const secret = open('Secret', {
  required: {
    name: secretName,
    version: integerBetween(1, 2 ** 31 - 1),
    created_at: instant,
    updated_at: instant,
    used_for: arrayOf(secretUse),
  },
  /** Why the value cannot be used. */
  optional: { problem: oneOf('The value is missing', 'The value cannot be decrypted') },
})

const listSecrets = (
  services: Pick<Services, 'eventStore' | 'access' | 'secrets' | 'unreadableSecrets'>,
): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary:
      "Lists a team's secrets by name: their versions, dates and uses, never their values. Needs the role team_administrator.",
    query: pageQuery,
    errors: ['overloaded'],
    response: pageOf(secret),
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async ({ team, query: { limit, after } }) => {
      const secrets: (typeof secret)['answer'][] = []
      const problems = await services.unreadableSecrets.ofTeam(team)
      for await (const one of secretsOf(services, team, problems, after)) if (secrets.push(one) > limit) break
      return { body: takePage(secrets, { limit, keyOf: ({ name }) => name }) }
    },
  })

const newUses = closed('SecretUses', { required: { used_for: arrayOf(secretUse, 1) } })

const changeSecret = (
  services: Pick<GatewayServices, 'eventStore' | 'ids' | 'access' | 'gateway'>,
): AnyRoute =>
  writeDirectory({
    method: 'patch',
    path: `${PATH}/:name`,
    summary:
      'Sets what a secret may be used for: `webhooks`, `upstreams` and `scorers`. To take away a use while webhooks or ' +
      'upstreams have it is a conflict that lists them. Needs the role team_administrator.',
    body: newUses,
    errors: ['conflict'],
    response: newUses,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async ({ team, params, body: { used_for: usedFor } }) => {
      const secret = { team, name: params['name']! }
      await requireKeptUses(services, secret, usedFor)
      return writing(
        (cause) => changeSecretUses(services, secret, usedFor, cause),
        ({ state }) => ({ used_for: state.usedFor }),
      )
    },
  })

const deleteSecret = (
  services: Pick<GatewayServices, 'eventStore' | 'ids' | 'access' | 'secrets' | 'gateway'>,
): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: `${PATH}/:name`,
    summary:
      'Permanently deletes all values of a secret. While webhooks or upstreams use it this is a conflict that lists them, ' +
      'unless `force` is true; what they send fails then. Needs the role team_administrator.',
    query: forced,
    errors: ['conflict'],
    response: emptyResponse,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async ({ team, params, query }) => {
      const secret = { team, name: params['name']! }
      const users = query.force === 'true' ? [] : await usersOf(services, secret)
      if (users.length > 0) throw inUse('Webhooks or upstreams use this secret', users)
      return writing((cause) => destroySecret(services, secret, cause))
    },
  })

/** Secrets can be written and listed, never read. */
export const secretRoutes = (
  services: Pick<
    GatewayServices,
    'eventStore' | 'ids' | 'sha256' | 'access' | 'secrets' | 'unreadableSecrets' | 'gateway'
  >,
): readonly AnyRoute[] => [
  storeSecret(services),
  listSecrets(services),
  changeSecret(services),
  deleteSecret(services),
]

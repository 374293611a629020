import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { decode, Codec, refuse } from '../../kernel/codec/codec.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { integerBetween, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import type { SecretName } from '../../kernel/ports/secret-store.js'
import { BEARER_EXPECTED, isBearer } from '../../domain/secrets/bearer.js'
import { secretStream, secretUse, secretName } from '../../domain/secrets/secret.js'
import { storeNextVersion } from '../../application/secrets/write-secret.js'
import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import { idFromKey } from '../server/idempotency.js'
import { requireKeptUses } from './users.js'
import { roleInTeam } from '../server/authorization.js'
import { invalid, invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { idempotent, writeDirectory } from '../server/route-kinds.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { utf8Bytes } from '../../kernel/codec/text.js'

export const PATH = '/api/teams/:team/secrets'

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

export const storeSecret = (
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

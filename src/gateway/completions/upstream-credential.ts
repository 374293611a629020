import { BEARER_EXPECTED, isBearer } from '../../domain/secrets/bearer.js'
import { redactSecrets, secretMatcher, type Redact } from '../../domain/secrets/redact-secrets.js'
import type { Upstream } from '../../domain/gateway/upstreams/directory.js'
import { USER_AGENT } from '../../domain/gateway/upstreams/upstream-client.js'
import { Failure } from '../../application/failure.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import type { Gateway } from '../gateway.js'
import type { UpstreamCredentials } from '../upstreams/upstream-credentials.js'

/** A secret that an administrator of the upstream has to set or correct. */
export interface UnusableCredential {
  /** As recorded in the attempts of a call. */
  readonly outcome: 'no secret' | 'unusable secret'
  readonly failure: Failure
}

export const resolveCredential = async (
  { credentialsOf }: Pick<Gateway, 'credentialsOf'>,
  upstream: Upstream,
): Promise<UpstreamCredentials | UnusableCredential> => {
  const credentials = await credentialsOf(upstream).catch(() => undefined)
  if (credentials === undefined) return unusable('no secret', upstream, 'has no readable value')
  return credentials.bearer === null || isBearer(credentials.bearer)
    ? credentials
    : unusable('unusable secret', upstream, `is not valid in a header: it should be ${BEARER_EXPECTED}`)
}

const unusable = (
  outcome: UnusableCredential['outcome'],
  { content }: Upstream,
  why: string,
): UnusableCredential => ({
  outcome,
  failure: new Failure('upstream-failed', `The upstream's secret ${content.secret ?? ''} ${why}.`, {
    code: 'upstream_error',
  }),
})

/** The headers of every request to an upstream. Those of the upstream's settings override the usual ones. */
export const upstreamHeaders = (
  accept: string,
  { bearer, headers }: Pick<UpstreamCredentials, 'bearer' | 'headers'>,
  form: Endpoint['form'] = 'openai',
): Readonly<Record<string, string>> => ({
  accept,
  'accept-encoding': 'identity',
  'user-agent': USER_AGENT,
  ...headers,
  ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
  // Anthropic reads this one, and other servers of its API the other one.
  ...(bearer === null || form === 'openai' ? {} : { 'x-api-key': bearer }),
})

export const redactCredential =
  ({ secrets }: Pick<UpstreamCredentials, 'secrets'>): Redact =>
  (text) =>
    secrets.length === 0 ? text : redactSecrets([secretMatcher(secrets)])(text)

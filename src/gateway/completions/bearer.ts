import { BEARER_EXPECTED, isBearer } from '../../domain/secrets/bearer.js'
import type { Upstream } from '../../domain/gateway/upstreams/directory.js'
import { Failure } from '../../application/failure.js'
import type { Gateway } from '../gateway.js'
import type { UpstreamCredentials } from '../upstreams/upstream-credentials.js'

/** Why an upstream cannot be asked: its secret is to be mended, by whoever manages the upstream. */
export interface Unusable {
  /** As the tries of a call have it. */
  readonly outcome: 'no secret' | 'unusable secret'
  readonly failure: Failure
}

/** What an upstream is sent besides the request, or why there is nothing to send. */
export const credentialsFor = async (
  { credentialsOf }: Pick<Gateway, 'credentialsOf'>,
  upstream: Upstream,
): Promise<UpstreamCredentials | Unusable> => {
  const credentials = await credentialsOf(upstream).catch(() => undefined)
  if (credentials === undefined) return unusable('no secret', upstream, 'has no readable value')
  return credentials.bearer === null || isBearer(credentials.bearer)
    ? credentials
    : unusable('unusable secret', upstream, `is not valid in a header: it should be ${BEARER_EXPECTED}`)
}

const unusable = (outcome: Unusable['outcome'], { content }: Upstream, why: string): Unusable => ({
  outcome,
  failure: new Failure('upstream-failed', `The upstream's secret ${content.secret ?? ''} ${why}.`, {
    code: 'upstream_error',
  }),
})

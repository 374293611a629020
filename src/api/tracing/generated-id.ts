import type { Ports } from '../../domain/ports/ports.js'
import { Failure } from '../failure.js'
import type { RouteRequest } from '../route.js'
import { uuidOfDigest } from '../../domain/uuid-of-digest.js'

const MAX_KEY_BYTES = 255

/**
 * The id of a call without one. With an `Idempotency-Key` (or the Python SDK's `X-Weave-Retry-Id`) it is derived from
 * the key, the user and the index in the request, so that the request can be retried.
 */
export const idFor = (
  { ids, sha256 }: Pick<Ports, 'ids' | 'sha256'>,
  { headers, principal }: Pick<RouteRequest<unknown>, 'headers' | 'principal'>,
  place: number,
): string => {
  const key = headers['idempotency-key'] ?? headers['x-weave-retry-id']
  if (typeof key !== 'string' || key === '') return ids.next()
  if (Buffer.byteLength(key) > MAX_KEY_BYTES)
    throw new Failure('bad-request', `The Idempotency-Key exceeds ${MAX_KEY_BYTES} bytes.`)
  return uuidOfDigest(sha256(JSON.stringify([principal.userId, key, place])))
}

import type { Ports } from '../../kernel/ports/ports.js'
import { Failure } from '../../application/failure.js'
import type { RouteRequest } from './route.js'
import { uuidOfDigest } from '../../kernel/uuid-of-digest.js'

const MAX_KEY_BYTES = 255

/**
 * An id for an element of a request that names none. Under an `Idempotency-Key` it derives from the key, the user and
 * the place in the request, so that the request can be retried. Under the `X-Weave-Retry-Id` of the Python package it
 * derives from the content too, because the package sends the id of an earlier request with later ones; without
 * content that header is ignored.
 */
export const idFor = (
  { ids, sha256 }: Pick<Ports, 'ids' | 'sha256'>,
  { headers, principal }: Pick<RouteRequest<unknown>, 'headers' | 'principal'>,
  place: number,
  content?: object,
): string => {
  const idempotencyKey = headers['idempotency-key']
  const key = idempotencyKey ?? (content === undefined ? undefined : headers['x-weave-retry-id'])
  if (typeof key !== 'string' || key === '') return ids.next()
  if (Buffer.byteLength(key) > MAX_KEY_BYTES)
    throw new Failure('bad-request', `The Idempotency-Key exceeds ${MAX_KEY_BYTES} bytes.`)
  const named = [principal.userId, key, place]
  return uuidOfDigest(sha256(JSON.stringify(idempotencyKey === undefined ? [...named, content] : named)))
}

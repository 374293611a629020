import type { IncomingHttpHeaders } from 'node:http'
import { utf8Bytes } from '../../kernel/codec/text.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { uuidOfDigest } from '../../kernel/uuid-of-digest.js'
import { invalid } from '../../application/failure.js'
import type { RouteRequest } from './route.js'

const MAX_BYTES = 255

/**
 * The key of a request that may be retried; undefined without the header.
 *
 * @throws Failure `invalid` that names the header, for an empty or a too long key
 */
const keyIn = (
  headers: IncomingHttpHeaders,
  header: 'Idempotency-Key' | 'X-Weave-Retry-Id',
): string | undefined => {
  const given = headers[header.toLowerCase()]
  if (given === undefined) return undefined
  const key = String(given)
  if (key !== '' && utf8Bytes(key) <= MAX_BYTES) return key
  const msg = `String should have 1 to ${MAX_BYTES} bytes`
  throw invalid([{ loc: ['header', header], type: 'value_error', msg }])
}

type Keyed = Pick<RouteRequest<unknown>, 'headers' | 'principal'>

/** An id that derives from the `Idempotency-Key`, the user and what the key is for; undefined without a key. */
export const idFromKey = (
  { sha256 }: Pick<Ports, 'sha256'>,
  { headers, principal }: Keyed,
  ...about: readonly string[]
): string | undefined => {
  const key = keyIn(headers, 'Idempotency-Key')
  return key === undefined ? undefined : sha256([principal.userId, ...about, key].join('\n')).slice(0, 32)
}

/** The same id for a retry by the same user with the same `Idempotency-Key`; otherwise a new id. */
export const repeatableId = (
  ports: Pick<Ports, 'ids' | 'sha256'>,
  request: Keyed,
  ...about: readonly string[]
): string => idFromKey(ports, request, ...about) ?? ports.ids.next()

/**
 * An id for an element of a request that names none. Under an `Idempotency-Key` it derives from the key, the user and
 * the place in the request, so that the request can be retried. Under the `X-Weave-Retry-Id` of the Python package it
 * derives from the content too, because the package sends the id of an earlier request with later ones; without
 * content that header is ignored.
 */
export const idFor = (
  { ids, sha256 }: Pick<Ports, 'ids' | 'sha256'>,
  { headers, principal }: Keyed,
  place: number,
  content?: object,
): string => {
  const idempotencyKey = keyIn(headers, 'Idempotency-Key')
  const key = idempotencyKey ?? (content === undefined ? undefined : keyIn(headers, 'X-Weave-Retry-Id'))
  if (key === undefined) return ids.next()
  const named = [principal.userId, key, place]
  return uuidOfDigest(sha256(JSON.stringify(idempotencyKey === undefined ? [...named, content] : named)))
}

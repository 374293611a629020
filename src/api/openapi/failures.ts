import { problemSchema } from '../../kernel/codec/problem.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { FailureKind } from '../../application/failure.js'
import { STATUS } from '../../application/failure-status.js'
import type { AnyRoute } from '../server/route.js'
import { headersByName } from './headers.js'

const SAYS: Readonly<Record<FailureKind, string>> = {
  'bad-request': 'The request is malformed or contradictory.',
  unauthenticated: 'No valid API key.',
  forbidden: 'The API key lacks a permission, or a field is not allowed; see the reason.',
  'not-found': 'Not found, or the API key has no access; the two are not distinguished.',
  conflict: 'Conflicts with an existing record.',
  'too-large': 'A size limit is exceeded; see the reason.',
  'unsupported-type': 'The Content-Type or Content-Encoding is not one that the endpoint takes.',
  invalid: 'Validation failed. The response has the location and the rule, never the value.',
  'too-costly': 'The read exceeded its memory limit. Narrow the request.',
  overloaded: 'Temporarily unavailable. Try again.',
  'not-yet-readable': 'The read models have not caught up with the requested position. Try again.',
  'too-slow': 'The read timed out. Narrow the request.',
  'budget-spent': 'A budget is exceeded; see the response.',
  'rate-limited': 'A rate limit is reached; the response has the limit and when to retry.',
  'upstream-failed': 'The upstream failed, or its response is not valid.',
  'upstream-too-slow': 'The upstream timed out.',
  'upstream-overloaded': 'The upstream is overloaded.',
}

const reason = {
  title: 'Reason',
  description: 'Why the request failed.',
  type: 'object',
  properties: { reason: { type: 'string' } },
  required: ['reason'],
  additionalProperties: true,
}

const validation = {
  title: 'HTTPValidationError',
  type: 'object',
  properties: { detail: { type: 'array', items: problemSchema } },
  required: ['detail'],
}

const chatError = {
  title: 'ChatError',
  description: 'Why the completion failed, in the format of chat completion clients and of FastAPI.',
  type: 'object',
  properties: {
    error: {
      title: 'ChatErrorContent',
      type: 'object',
      properties: {
        message: { type: 'string' },
        type: { type: 'string' },
        param: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        code: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['message', 'type', 'param', 'code'],
    },
    detail: { anyOf: [{ type: 'string' }, validation.properties.detail] },
  },
  required: ['error', 'detail'],
  additionalProperties: true,
}

const anthropicError = {
  title: 'AnthropicError',
  description: "Why the request failed, in the format of Anthropic's API.",
  type: 'object',
  properties: {
    type: { const: 'error' },
    error: {
      title: 'AnthropicErrorContent',
      type: 'object',
      properties: { type: { type: 'string' }, message: { type: 'string' } },
      required: ['type', 'message'],
    },
    request_id: { type: 'string' },
  },
  required: ['type', 'error', 'request_id'],
  additionalProperties: true,
}

const rpcStatus = {
  title: 'RpcStatus',
  description: 'A `google.rpc.Status` in the encoding of the request.',
  type: 'object',
  properties: { code: { type: 'integer' }, message: { type: 'string' } },
  required: ['code', 'message'],
}

const schemaOf = ({ errorFormat, requestHeaders }: AnyRoute, status: number): JsonObject => {
  switch (errorFormat) {
    case 'chat':
    case 'openai':
      return requestHeaders.includes('anthropic-version') ? { anyOf: [chatError, anthropicError] } : chatError
    case 'anthropic':
      return anthropicError
    case 'otlp':
      return rpcStatus
    default:
      return status === STATUS.invalid ? validation : reason
  }
}

/** The error responses of a route, by status. */
export const failuresOf = (route: AnyRoute, named: (schema: JsonObject) => JsonObject): JsonObject => {
  const kinds = kindsOf(route)
  const { errorFormat } = route
  const isInvalidBad = errorFormat === 'openai' || errorFormat === 'anthropic' || errorFormat === 'otlp'
  const statusOf = (kind: FailureKind): number =>
    STATUS[isInvalidBad && kind === 'invalid' ? 'bad-request' : kind]
  const statuses = [...new Set(kinds.map(statusOf))].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = kinds.filter((kind) => statusOf(kind) === status)
      return [
        status,
        {
          description: ofStatus.map((kind) => SAYS[kind]).join(' '),
          headers: headersByName(headersOf(status)),
          content: { 'application/json': { schema: named(schemaOf(route, status)) } },
        },
      ]
    }),
  )
}

const kindsOf = ({ access, body, form, errors }: AnyRoute): readonly FailureKind[] => {
  const all = Object.keys(SAYS) as FailureKind[]
  const isOpen = access === 'open'
  const possible = new Set<FailureKind>([
    ...(isOpen ? [] : (['unauthenticated', 'forbidden'] as const)),
    ...(isOpen && body === undefined ? [] : (['invalid'] as const)),
    ...(body === undefined ? [] : (['bad-request', 'too-large', 'unsupported-type', 'overloaded'] as const)),
    ...(form === undefined ? [] : (['too-large'] as const)),
    ...(errors ?? (isOpen ? [] : all)),
  ])
  return all.filter((kind) => possible.has(kind))
}

const RETRYABLE = new Set([STATUS.overloaded, STATUS['rate-limited'], STATUS['upstream-overloaded']])

const headersOf = (status: number) => {
  if (status === STATUS.unauthenticated) return ['WWW-Authenticate'] as const
  return RETRYABLE.has(status) ? (['Retry-After'] as const) : []
}

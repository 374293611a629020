import type { JsonObject } from '../../kernel/json/json.js'
import { id } from '../../kernel/ids.js'
import { cacheSeconds, recordLevel } from '../../domain/projects/project.js'
import type { RequestHeader, ResponseHeader } from '../server/route.js'

type CommonHeader = 'x-request-id' | 'WWW-Authenticate'

const count = { type: 'integer', minimum: 0 }
const position = { type: 'integer', format: 'int64', minimum: 0 }

const REQUEST_HEADERS: Readonly<Record<RequestHeader, JsonObject>> = {
  'Tallytree-Min-Position': {
    description: 'A log position from an earlier response. The read waits up to two seconds for it.',
    schema: position,
  },
  'Tallytree-Stale': {
    description: '"allow" reads the current state without waiting for the latest writes.',
    schema: { type: 'string', enum: ['allow'] },
  },
  'Tallytree-As-Of': {
    description:
      'Reads the state as of a log position, in decimal digits, or of a time (RFC 3339), which ' +
      'means the last event recorded at or before it.',
    schema: { type: 'string', examples: ['1234', '2026-01-31T09:30:00Z'] },
  },
  'Idempotency-Key': {
    description:
      'Makes retries safe: requests of one user with the same key create the same resource, with the same id.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  'Vendor-Project': {
    description:
      'The project of the completion, `team/project`. Takes precedence over `OpenAI-Project`; the default is the project ' +
      "`inference` in the key's first team. `Vendor` is configured with TALLYTREE_VENDOR.",
    schema: { type: 'string' },
  },
  'OpenAI-Project': {
    description: 'The project of the completion, as chat completion clients send it.',
    schema: { type: 'string' },
  },
  'Tallytree-Parent-Call': {
    description:
      'The id of the parent call, in the same project. The completion joins the trace of that call ' +
      'if its start is already recorded.',
    schema: id.schema,
  },
  'Tallytree-Trace': {
    description: 'The id of the trace that the completion joins, even if its parent is not recorded yet.',
    schema: id.schema,
  },
  traceparent: {
    description: 'The W3C header. Used if neither Tallytree-Parent-Call nor Tallytree-Trace is present.',
    schema: { type: 'string' },
  },
  'Tallytree-Record': {
    description:
      '`metadata` records neither the messages nor the response, whatever the setting of the project; `all` uses ' +
      'that setting.',
    schema: recordLevel.schema,
  },
  'Tallytree-Cache': {
    description:
      'How old the answer of an equal request of the project may be that is given again, in seconds; 0 for a new answer. By ' +
      'default the setting of the project.',
    schema: cacheSeconds.schema,
  },
  'anthropic-version': {
    description: "The version of Anthropic's API that the client speaks.",
    schema: { type: 'string', examples: ['2023-06-01'] },
  },
  'anthropic-beta': {
    description: "Beta features of Anthropic's API, comma-separated.",
    schema: { type: 'string' },
  },
  'X-WANDB-ASYNC-CLIENT-ID': {
    description: 'The program that logs, if several programs log to one run. Each numbers its own lines.',
    schema: { type: 'string', maxLength: 256 },
  },
}

const limitOf = (what: string): JsonObject => ({
  description: `The ${what} per minute of the limit of which least is left. Absent without such a limit.`,
  schema: count,
})
const LEFT = { description: 'What is left of it.', schema: count }
const RESET_IN = {
  description: 'The time until nothing of it is used, in seconds, such as `59.5s`.',
  schema: { type: 'string' },
}
const RESET_AT = {
  description: 'When nothing of it is used any more.',
  schema: { type: 'string', format: 'date-time' },
}

const RESPONSE_HEADERS: Readonly<Record<ResponseHeader | CommonHeader, JsonObject>> = {
  'x-request-id': {
    description: 'The id of the request, also in the log: a UUID, or under /v1 the id from the request.',
    required: true,
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds to wait before retrying.', required: true, schema: count },
  'WWW-Authenticate': {
    description: 'The supported authentication schemes.',
    required: true,
    schema: { type: 'string' },
  },
  'Tallytree-Position': {
    description: 'The log position of the state that was read, or from which the write can be read.',
    schema: position,
  },
  'Tallytree-Call-Id': {
    description: 'The id of the call that records the completion.',
    schema: { type: 'string' },
  },
  'Tallytree-Cost': {
    description:
      'The exact cost of the completion as budgets are charged, such as `0.000054`. Absent for a stream, for unknown usage, ' +
      'and for a model without a price if the upstream reports no cost.',
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  },
  'Tallytree-Cache': {
    description: '`hit` if the answer of an equal request was given again.',
    schema: { type: 'string', enum: ['hit'] },
  },
  'x-ratelimit-limit-requests': limitOf('requests'),
  'x-ratelimit-remaining-requests': LEFT,
  'x-ratelimit-reset-requests': RESET_IN,
  'x-ratelimit-limit-tokens': limitOf('tokens'),
  'x-ratelimit-remaining-tokens': LEFT,
  'x-ratelimit-reset-tokens': RESET_IN,
  'anthropic-ratelimit-requests-limit': limitOf('requests'),
  'anthropic-ratelimit-requests-remaining': LEFT,
  'anthropic-ratelimit-requests-reset': RESET_AT,
  'anthropic-ratelimit-tokens-limit': limitOf('tokens'),
  'anthropic-ratelimit-tokens-remaining': LEFT,
  'anthropic-ratelimit-tokens-reset': RESET_AT,
  'Tallytree-Refused': {
    description: 'The number of rejected elements of the batch. Absent if there are none.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Tallytree-Truncated': {
    description: 'The number of matching calls beyond `limit`. Absent if there are none.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Tallytree-Unfinished-Descendants': {
    description: 'The number of descendants of the returned calls that have not ended.',
    schema: count,
  },
  'Tallytree-Erased-Calls': {
    description: 'The number of calls of the range whose figures were erased. Absent if there are none.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Tallytree-Unpriced-Models': {
    description:
      'The number of models without a price that used tokens. The body names them. Absent if all have prices or costs were ' +
      'not requested.',
    schema: { type: 'integer', minimum: 1 },
  },
}

export const headerParameters = (names: readonly RequestHeader[]): readonly JsonObject[] =>
  names.map((name) => ({ name, in: 'header', required: false, ...REQUEST_HEADERS[name] }))

/** The headers of a response, including the request id. */
export const headersByName = (names: readonly (ResponseHeader | CommonHeader)[]): JsonObject =>
  Object.fromEntries((['x-request-id', ...names] as const).map((name) => [name, RESPONSE_HEADERS[name]]))

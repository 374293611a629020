import { problemJson, type Problem } from '../../kernel/codec/problem.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Failure } from '../../application/failure.js'

type ToldFailure = Pick<Failure, 'reason' | 'details'>

/** OpenAI's error type and code by status. */
const OF_OPENAI: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  400: ['invalid_request_error', null],
  401: ['authentication_error', 'invalid_api_key'],
  402: ['insufficient_quota', 'insufficient_quota'],
  403: ['permission_error', null],
  404: ['invalid_request_error', null],
  405: ['invalid_request_error', null],
  409: ['invalid_request_error', 'conflict'],
  413: ['invalid_request_error', 'request_too_large'],
  415: ['invalid_request_error', 'unsupported_media_type'],
  422: ['invalid_request_error', null],
  426: ['invalid_request_error', null],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
  502: ['server_error', 'upstream_error'],
  503: ['overloaded', 'overloaded'],
  504: ['server_error', 'upstream_timeout'],
  529: ['overloaded', 'upstream_error'],
}

/** Combines both formats that clients read: `error` of OpenAI and FastAPI's `detail`. */
export const openAiErrorOf = ({ reason, details }: ToldFailure, status: number): JsonObject => {
  const [defaultType, defaultCode] = OF_OPENAI[status] ?? ['server_error', null]
  const { problems, type = defaultType, code = defaultCode, param: defaultParam = null, body } = details
  const [first] = problems ?? []
  const { message, param } = first === undefined ? { message: reason, param: defaultParam } : describe(first)
  return { error: { message, type, param, code }, detail: problems?.map(problemJson) ?? reason, ...body }
}

/** Anthropic's error type by status. */
const OF_ANTHROPIC: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

const ANTHROPIC_TYPES = new Set(['invalid_request_error', 'api_error', ...Object.values(OF_ANTHROPIC)])

/** An upstream's own type is kept if it is one of Anthropic's. */
export const anthropicErrorOf = (
  { reason, details: { problems, type, body } }: ToldFailure,
  status: number,
  requestId: string,
): JsonObject => {
  const [first] = problems ?? []
  const ofStatus = OF_ANTHROPIC[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return {
    type: 'error',
    error: {
      type: type !== undefined && ANTHROPIC_TYPES.has(type) ? type : ofStatus,
      message: first === undefined ? reason : describe(first).message,
    },
    request_id: requestId,
    ...body,
  }
}

const describe = ({
  loc,
  type,
  msg,
}: Problem): { readonly message: string; readonly param: string | null } =>
  type === 'json_invalid'
    ? { message: 'The body is not JSON.', param: null }
    : { message: `${loc.slice(1).join('.') || loc.join('.')}: ${msg}`, param: String(loc.at(-1)) }

export const shouldRetry = (status: number): boolean => status === 408 || status === 429 || status >= 500

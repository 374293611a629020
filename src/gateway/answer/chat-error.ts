import { problemJson, type Problem } from '../../kernel/codec/problem.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Failure } from '../../application/failure.js'

/** The error type and code by status. */
const DEFAULTS: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  400: ['invalid_request_error', null],
  401: ['authentication_error', 'invalid_api_key'],
  402: ['insufficient_quota', 'insufficient_quota'],
  403: ['permission_error', null],
  404: ['invalid_request_error', null],
  405: ['invalid_request_error', null],
  409: ['invalid_request_error', 'conflict'],
  413: ['invalid_request_error', 'request_too_large'],
  422: ['invalid_request_error', null],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
  502: ['server_error', 'upstream_error'],
  503: ['overloaded', 'overloaded'],
  504: ['server_error', 'upstream_timeout'],
}

/** Combines both formats that clients read: `error` of chat completions and FastAPI's `detail`. */
export const chatErrorOf = (
  { reason, details }: Pick<Failure, 'reason' | 'details'>,
  status: number,
): JsonObject => {
  const [defaultType, defaultCode] = DEFAULTS[status] ?? ['server_error', null]
  const { problems, type = defaultType, code = defaultCode, param: defaultParam = null, body } = details
  const [first] = problems ?? []
  const { message, param } = first === undefined ? { message: reason, param: defaultParam } : describe(first)
  return { error: { message, type, param, code }, detail: problems?.map(problemJson) ?? reason, ...body }
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

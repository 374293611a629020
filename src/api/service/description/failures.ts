import type { JsonObject } from '../../../domain/json/json.js'
import type { FailureKind } from '../../failure.js'
import { STATUS } from '../../http/status.js'
import type { AnyRoute } from '../../route.js'
import { answerHeaders } from './headers.js'

const SAYS: Readonly<Record<FailureKind, string>> = {
  'bad-request': 'The request cannot be read, or asks for what makes no sense.',
  unauthenticated: 'No valid API key was sent.',
  forbidden: 'The key lacks a right, or a field may not be asked for; the reason names it.',
  'not-found': 'There is no such thing, or the key has no access to it: the answer is the same.',
  conflict: 'Something else is already recorded.',
  'too-large': 'A limit is passed; the reason names it.',
  invalid: 'The request is not valid; the answer says where and why, and quotes no values.',
  'too-costly': 'The read needs too much memory. Ask for less.',
  overloaded: 'Not possible now. Try again.',
  'not-yet-readable': 'What was written last, or asked for, cannot be read yet. Try again.',
  'too-slow': 'The read took too long. Ask for less.',
  'budget-spent': 'A budget is spent; the answer names it.',
  'rate-limited': 'A limit is reached; the answer names it and says when it frees.',
  'upstream-failed': 'The upstream failed, or what it answered is no chat completion.',
  'upstream-too-slow': 'The upstream did not answer in time.',
}

const reason = {
  title: 'Reason',
  description: 'Why a request was not served.',
  type: 'object',
  properties: { reason: { type: 'string' } },
  required: ['reason'],
  additionalProperties: true,
}

const validation = {
  title: 'HTTPValidationError',
  type: 'object',
  properties: {
    detail: {
      type: 'array',
      items: {
        title: 'ValidationError',
        type: 'object',
        properties: {
          loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
          msg: { type: 'string' },
          type: { type: 'string' },
        },
        required: ['loc', 'msg', 'type'],
      },
    },
  },
  required: ['detail'],
}

const chatError = {
  title: 'ChatError',
  description: "Why a completion was not served, as clients of chat completions read it, and as FastAPI's.",
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

/** The ways in which a route may fail, by status. */
export const failuresOf = (route: AnyRoute, named: (schema: JsonObject) => JsonObject): JsonObject => {
  const kinds = kindsOf(route)
  const statuses = [...new Set(kinds.map((kind) => STATUS[kind]))].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = kinds.filter((kind) => STATUS[kind] === status)
      const schema = named(
        route.errorFormat === 'chat' ? chatError : status === STATUS.invalid ? validation : reason,
      )
      return [
        status,
        {
          description: ofStatus.map((kind) => SAYS[kind]).join(' '),
          headers: answerHeaders(headersOf(status)),
          content: { 'application/json': { schema } },
        },
      ]
    }),
  )
}

const kindsOf = ({ access, body, form, errors }: AnyRoute): readonly FailureKind[] => {
  if (access === 'open') return errors ?? []
  const all = Object.keys(SAYS) as FailureKind[]
  const possible = new Set<FailureKind>([
    'unauthenticated',
    'invalid',
    ...(body === undefined ? [] : (['bad-request', 'too-large'] as const)),
    ...(form === undefined ? [] : (['too-large'] as const)),
    ...(errors ?? all),
  ])
  return all.filter((kind) => possible.has(kind))
}

const headersOf = (status: number) => {
  if (status === STATUS.unauthenticated) return ['WWW-Authenticate'] as const
  return status === STATUS.overloaded || status === STATUS['rate-limited'] ? (['Retry-After'] as const) : []
}

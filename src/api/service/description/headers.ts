import type { JsonObject } from '../../../domain/json/json.js'
import { id } from '../../../domain/ids.js'
import { recordLevel } from '../../../domain/project/events.js'
import type { RequestHeader, ResponseHeader } from '../../route.js'

type CommonHeader = 'x-request-id' | 'WWW-Authenticate'

const count = { type: 'integer', minimum: 0 }
const position = { type: 'integer', format: 'int64', minimum: 0 }

const ASKED: Readonly<Record<RequestHeader, JsonObject>> = {
  'Tallytree-Min-Position': {
    description: 'A log position, as another answer gave it: the read waits for it, for at most two seconds.',
    schema: position,
  },
  'Tallytree-Stale': {
    description: '"allow" takes what can be read now, without waiting for the last writes.',
    schema: { type: 'string', enum: ['allow'] },
  },
  'Tallytree-As-Of': {
    description:
      'Answers as it would have been answered then: at a log position, in decimal digits, or at a time (RFC 3339), which ' +
      'means the last event recorded no later.',
    schema: { type: 'string', examples: ['1234', '2026-01-31T09:30:00Z'] },
  },
  'Idempotency-Key': {
    description:
      'The same key again, from the same user, is the same request: what it makes gets the same id.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  'Vendor-Project': {
    description:
      'The project that the completion belongs to, `team/project`; it goes before `OpenAI-Project`. Without either that is ' +
      "`inference` of the key's first team. `Vendor` is what the service is set up to say there.",
    schema: { type: 'string' },
  },
  'OpenAI-Project': {
    description: 'The same, as clients of chat completions send it.',
    schema: { type: 'string' },
  },
  'Tallytree-Parent-Call': {
    description:
      'The id of a call of the same project, which the completion becomes a child of. It goes into the trace of that call ' +
      'where its start has come already.',
    schema: id.schema,
  },
  'Tallytree-Trace': {
    description: 'The id of the trace that the completion goes into, also where its parent has not come yet.',
    schema: id.schema,
  },
  traceparent: {
    description:
      'The W3C header; its trace and its parent count where neither Tallytree-Parent-Call nor Tallytree-Trace is there.',
    schema: { type: 'string' },
  },
  'Tallytree-Record': {
    description:
      'With `metadata` neither the messages nor the answer are recorded, whatever the project chose; `all` leaves that to ' +
      'the project.',
    schema: recordLevel.schema,
  },
}

const ANSWERED: Readonly<Record<ResponseHeader | CommonHeader, JsonObject>> = {
  'x-request-id': {
    description: 'Names the request, in the log too: a UUID, or under /v1 what the request itself named it.',
    required: true,
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds after which another try makes sense.',
    required: true,
    schema: count,
  },
  'WWW-Authenticate': {
    description: 'The schemes that carry a key.',
    required: true,
    schema: { type: 'string' },
  },
  'Tallytree-Position': {
    description: 'The log position that a read speaks of, or at which what was written can be read.',
    schema: position,
  },
  'Tallytree-Refused': {
    description: 'How many elements of the batch were not taken; absent where all were.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Tallytree-Truncated': {
    description: 'How many calls matched beyond what `limit` let through; absent where none did.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Tallytree-Unfinished-Descendants': {
    description: 'How many descendants of the answered calls have not ended.',
    schema: count,
  },
  'Tallytree-Unpriced-Models': {
    description:
      'The models whose tokens had no price and cost 0 here: names, percent-encoded, separated by commas; where they ' +
      'are too many, + and how many more. Absent where all had one, or costs were not asked for.',
    schema: { type: 'string' },
  },
}

/** Request headers as parameters. */
export const headerParameters = (names: readonly RequestHeader[]): readonly JsonObject[] =>
  names.map((name) => ({ name, in: 'header', required: false, ...ASKED[name] }))

/** Headers of an answer, the request's id among them. */
export const answerHeaders = (names: readonly (ResponseHeader | CommonHeader)[]): JsonObject =>
  Object.fromEntries((['x-request-id', ...names] as const).map((name) => [name, ANSWERED[name]]))

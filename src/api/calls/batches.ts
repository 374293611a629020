import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import { Codec, describedAs, refuse, type JsonSchema } from '../../kernel/codec/codec.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { json, oneOf } from '../../kernel/codec/leaves.js'
import { problemSchema, type Problem } from '../../kernel/codec/problem.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { mapInSteps } from '../../kernel/yield-to-event-loop.js'
import { emptyResponse } from '../server/empty-response.js'
import type { ParsedJson } from '../../kernel/json/parse-in-steps.js'
import { authorizeRead, projectInPath } from '../../application/access/project-access.js'
import { writtenAs, type AnyRoute, type RequestHeader, type RouteRequest } from '../server/route.js'
import { writeAuthorized } from '../server/route-kinds.js'
import {
  authorizeElements,
  decodeElement,
  elementsOf,
  isOf,
  MAX_ELEMENTS,
  OTHER_PROJECT,
  recordBatch,
  reject,
  type AuthorizedBatch,
} from './batch-ingest.js'
import { endCall } from '../../application/calls/record.js'
import {
  completedCall,
  completeWrites,
  endedCall,
  startedCall,
  startWrite,
  type EndedCall,
  type StartedCall,
} from './client-call.js'
import { idFor } from '../server/idempotency.js'
import { started } from './start-and-end.js'

const batchOf = <A>(codec: Codec<A>) => ({
  required: { batch: describedAs(arrayOf(codec), { maxItems: MAX_ELEMENTS }) },
})

const startItem = open('StartItem', {
  optional: { mode: nullable(oneOf('start')) },
  required: { req: closed('StartRequest', { required: { start: startedCall } }) },
})
const endItem = open('EndItem', {
  optional: { mode: nullable(oneOf('end')) },
  required: { req: closed('EndRequest', { required: { end: endedCall } }) },
})

type BatchItem =
  { readonly mode: 'start'; readonly start: StartedCall } | { readonly mode: 'end'; readonly end: EndedCall }

/** `{mode: 'start', req: {start}}` or `{mode: 'end', req: {end}}`; `mode` may be absent. */
const batchItem: Codec<BatchItem> = new Codec<BatchItem>(
  'BatchItem',
  (u): u is BatchItem => isJsonObject(u) && (u['mode'] === 'start' || u['mode'] === 'end'),
  (u, c) => {
    const mode = isJsonObject(u) ? (u['mode'] ?? modeOfRequest(u['req'])) : undefined
    if (mode === 'start') {
      const item = startItem.validate(u, c)
      return item._tag === 'Right' ? { ...item, right: { mode, start: item.right.req.start } } : item
    }
    if (mode === 'end') {
      const item = endItem.validate(u, c)
      return item._tag === 'Right' ? { ...item, right: { mode, end: item.right.req.end } } : item
    }
    return refuse(u, c, 'value_error', "Value error, mode should be 'start' or 'end'")
  },
  { oneOf: [startItem.schema, endItem.schema] },
)

const modeOfRequest = (request: unknown): string | undefined =>
  isJsonObject(request) ? ['start', 'end'].find((mode) => Object.hasOwn(request, mode)) : undefined

const rejected = {
  type: 'array',
  description: 'The elements that are not recorded, with the index in `loc`. Absent if all are.',
  items: problemSchema,
}

const upsertResponse = {
  title: 'CallsUpsertBatchResponse',
  type: 'object',
  properties: {
    res: {
      type: 'array',
      description: 'In the order of the batch; for a start, its id and trace.',
      items: { anyOf: [started.schema, emptyResponse.schema] },
    },
    rejected,
  },
  required: ['res'],
}
const completeResponse = { title: 'CallsCompleteResponse', type: 'object', properties: { rejected } }

interface BatchAnswer {
  readonly res?: readonly JsonObject[]
  readonly rejected?: readonly Problem[]
}

const upsertBody = closed('CallsUpsertBatch', batchOf(batchItem))
const completeBody = open('CallsComplete', batchOf(completedCall))
const closedEnvelope = closed('Batch', { required: { batch: arrayOf(json) } })
const openEnvelope = open('Batch', { required: { batch: arrayOf(json) } })

type BatchServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

interface Batch {
  readonly path: string
  readonly summary: string
  readonly body: NonNullable<AnyRoute['body']>
  readonly requestHeaders?: readonly RequestHeader[]
  readonly schema: JsonSchema
  readonly authorize: (request: RouteRequest<ParsedJson>) => Promise<AuthorizedBatch>
  readonly answer: (results: readonly JsonObject[]) => BatchAnswer
}

/** An invalid element of a batch never rejects the others. */
const batchRoute = (
  services: BatchServices,
  { path, summary, body, requestHeaders = [], schema, authorize, answer }: Batch,
): AnyRoute => ({
  ...writeAuthorized<AuthorizedBatch, ParsedJson, undefined, BatchAnswer>(services, {
    method: 'post',
    path,
    summary,
    requestHeaders,
    response: { ...writtenAs<BatchAnswer>(schema), headers: ['Tallytree-Position', 'Tallytree-Refused'] },
    authorization: { errors: ['not-found'], authorize },
    handle: (request) => async () => {
      const { results, rejected, ...response } = await recordBatch(services, request)
      return { body: { ...answer(results), ...(rejected.length === 0 ? {} : { rejected }) }, ...response }
    },
  }),
  body,
  lenientBatch: true,
})

const upsertRoute = (services: BatchServices): AnyRoute =>
  batchRoute(services, {
    path: '/call/upsert_batch',
    summary: 'Record starts and ends of calls in order, with one result per element.',
    body: upsertBody,
    requestHeaders: ['Idempotency-Key'],
    schema: upsertResponse,
    authorize: async (request) => {
      const writesOf = (item: BatchItem, index: number) =>
        item.mode === 'start'
          ? [startWrite(item.start, item.start.id ?? idFor(services, request, index, item.start))]
          : [endCall(item.end)]
      const elements = await mapInSteps(
        elementsOf(request.body, closedEnvelope),
        decodeElement(batchItem, writesOf),
      )
      return authorizeElements(services, elements, request.principal)
    },
    answer: (res) => ({ res }),
  })

const completeRoute = (services: BatchServices): AnyRoute =>
  batchRoute(services, {
    path: '/v2/:entity/:project/calls/complete',
    summary: 'Record completed calls, each with start and end.',
    body: completeBody,
    schema: completeResponse,
    authorize: async ({ body, params, principal }) => {
      const project = projectInPath(params)
      authorizeRead(services.access, principal, project)
      const decoded = await mapInSteps(
        elementsOf(body, openEnvelope),
        decodeElement(completedCall, completeWrites),
      )
      const elements = decoded.map((element) =>
        isOf(project)(element) ? element : reject(element, OTHER_PROJECT),
      )
      return authorizeElements(services, elements, principal, project)
    },
    answer: () => ({}),
  })

export const batchRoutes = (services: BatchServices): readonly AnyRoute[] => [
  upsertRoute(services),
  completeRoute(services),
]

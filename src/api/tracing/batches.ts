import * as E from 'fp-ts/lib/Either.js'
import type { Codec } from '../../domain/codec/codec.js'
import { emptyResponse } from '../empty-response.js'
import type { JsonBody } from '../http/read-json.js'
import { projectInPath, authorizeRead } from '../projects/access.js'
import type { AnyRoute, RouteRequest } from '../route.js'
import { writeAuthorized } from '../route-kinds.js'
import { batchItem, completeBatch, upsertBatch, type BatchItem } from './batch-codecs.js'
import { completeWrites, endWrite, startWrite, type CallWrite } from './call-writes.js'
import { completedCall, type CompletedCall } from './client-call.js'
import { decodeElement, elementsOf, type BatchElement } from './elements.js'
import { idFor } from './generated-id.js'
import { authorizeElements, recordBatch, type DecodedElement, type AuthorizedBatch } from './intake.js'
import { started } from './start-and-end.js'
import type { Tracing } from './tracing.js'

const upsertResponse = {
  title: 'CallsUpsertBatchResponse',
  type: 'object',
  properties: {
    res: {
      type: 'array',
      description: 'In the order of the batch; for a start, its id and trace.',
      items: { anyOf: [started.schema, emptyResponse.schema] },
    },
  },
  required: ['res'],
}

const headers = ['Tallytree-Position', 'Tallytree-Refused'] as const

/** An invalid element of a batch never refuses the others. */
export const batchRoutes = (tracing: Tracing): readonly AnyRoute[] => {
  const elements = <A>(
    body: JsonBody,
    codec: Codec<A>,
    writesOf: (a: A, element: BatchElement) => readonly CallWrite[],
    inPath?: string,
  ) =>
    elementsOf(body, inPath === undefined ? 'refused' : 'tolerated').map((element): DecodedElement => {
      const decoded = decodeElement(codec)(element)
      if (E.isLeft(decoded)) return { ...element, problem: decoded.left, writes: [] }
      const writes = writesOf(decoded.right, element)
      return { writes, ...element, ...otherProject(inPath, decoded.right, element) }
    })

  const upserted = (request: RouteRequest<JsonBody>): AuthorizedBatch => {
    const writesOf = (item: BatchItem, { index }: BatchElement) =>
      item.mode === 'start'
        ? [startWrite(item.start, item.start.id ?? idFor(tracing.ports, request, index, item.start))]
        : [endWrite(item.end)]
    return authorizeElements(tracing, elements(request.body, batchItem, writesOf), request)
  }

  const completed = (request: RouteRequest<JsonBody>): AuthorizedBatch => {
    const project = projectInPath(request.params)
    authorizeRead(tracing.teams, request.principal, project)
    return authorizeElements(
      tracing,
      elements(request.body, completedCall, completeWrites, project),
      request,
      project,
    )
  }

  return [
    {
      ...writeAuthorized<AuthorizedBatch, JsonBody>(tracing, {
        method: 'post',
        path: '/call/upsert_batch',
        summary: 'Record starts and ends of calls in order, with one result per element.',
        requestHeaders: ['Idempotency-Key'],
        response: { schema: upsertResponse, headers },
        authorization: { errors: ['not-found'], authorize: upserted },
        handle: (request) => async () => {
          const { answers, ...response } = await recordBatch(tracing, request)
          return { body: { res: answers }, ...response }
        },
      }),
      body: upsertBatch,
      lenientBatch: true,
    },
    {
      ...writeAuthorized<AuthorizedBatch, JsonBody>(tracing, {
        method: 'post',
        path: '/v2/:entity/:project/calls/complete',
        summary: 'Record completed calls, each with start and end.',
        response: { ...emptyResponse, headers },
        authorization: { errors: ['not-found'], authorize: completed },
        handle: (request) => async () => {
          const { answers: _, ...response } = await recordBatch(tracing, request)
          return { body: {}, ...response }
        },
      }),
      body: completeBatch,
      lenientBatch: true,
    },
  ]
}

const otherProject = (inPath: string | undefined, decoded: unknown, { index }: BatchElement) => {
  if (inPath === undefined || (decoded as CompletedCall).project_id === inPath) return {}
  const msg = 'Value error, the project should match the path'
  return { problem: { loc: ['body', 'batch', index, 'project_id'], type: 'value_error', msg }, writes: [] }
}

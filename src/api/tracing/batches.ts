import * as E from 'fp-ts/lib/Either.js'
import type { Codec } from '../../domain/codec/codec.js'
import { writesProject } from '../conduct.js'
import { emptyResponse } from '../empty-response.js'
import type { JsonBody } from '../http/read-json.js'
import { projectInPath, authorizeRead } from '../projects/access.js'
import { route, type AnyRoute, type RouteRequest } from '../route.js'
import { batchItem, completeBatch, upsertBatch, type BatchItem } from './batch-codecs.js'
import { completeWrites, endWrite, startWrite, type CallWrite } from './call-writes.js'
import { completedCall, type CompletedCall } from './client-call.js'
import { decodeElement, elementsOf, type BatchElement } from './elements.js'
import { idFor } from './generated-id.js'
import { intake, type Element } from './intake.js'
import { started } from './start-and-end.js'
import type { Tracing } from './tracing.js'

const upserted = {
  title: 'CallsUpsertBatchResponse',
  type: 'object',
  properties: {
    res: {
      type: 'array',
      description: 'In the order of the batch: for a start its id and trace.',
      items: { anyOf: [started.schema, emptyResponse.schema] },
    },
  },
  required: ['res'],
}

const headers = ['Tallytree-Position', 'Tallytree-Refused'] as const

/** `/call/upsert_batch` and `/calls/complete`: an element that is not taken never refuses its neighbours. */
export const batchRoutes = (tracing: Tracing): readonly AnyRoute[] => {
  const elements = <A>(
    asked: RouteRequest<JsonBody>,
    codec: Codec<A>,
    writesOf: (a: A, element: BatchElement) => readonly CallWrite[],
    inPath?: string,
  ) =>
    elementsOf(asked.body, inPath === undefined ? 'refused' : 'tolerated').map((element): Element => {
      const decoded = decodeElement(codec)(element)
      if (E.isLeft(decoded)) return { ...element, problem: decoded.left, writes: [] }
      const writes = writesOf(decoded.right, element)
      return { writes, ...element, ...otherProject(inPath, decoded.right, element) }
    })

  const upsert = async (asked: RouteRequest<JsonBody>) => {
    const writesOf = (item: BatchItem, { index }: BatchElement) =>
      item.mode === 'start'
        ? [startWrite(item.start, item.start.id ?? idFor(tracing.ports, asked, index))]
        : [endWrite(item.end)]
    const { answers, ...rest } = await intake(tracing)(elements(asked, batchItem, writesOf), asked)
    return { body: { res: answers }, ...rest }
  }

  const complete = async (asked: RouteRequest<JsonBody>) => {
    const project = projectInPath(asked.params)
    authorizeRead(tracing.teams, asked.principal, project)
    const given = elements(asked, completedCall, completeWrites, project)
    const { answers: _, ...rest } = await intake(tracing)(given, asked, project)
    return { body: {}, ...rest }
  }

  return [
    {
      ...route({
        method: 'post',
        path: '/call/upsert_batch',
        summary: 'Record starts and ends of calls, in order; each is answered in its place.',
        ...writesProject,
        requestHeaders: ['Idempotency-Key'],
        response: { schema: upserted, headers },
        handle: upsert,
      }),
      body: upsertBatch,
      lenientBatch: true,
    },
    {
      ...route({
        method: 'post',
        path: '/v2/:entity/:project/calls/complete',
        summary: 'Record calls that have ended, start and end in one.',
        ...writesProject,
        response: { ...emptyResponse, headers },
        handle: complete,
      }),
      body: completeBatch,
      lenientBatch: true,
    },
  ]
}

const otherProject = (inPath: string | undefined, decoded: unknown, { index }: BatchElement) => {
  if (inPath === undefined || (decoded as CompletedCall).project_id === inPath) return {}
  const msg = 'Value error, the project should be the one in the path'
  return { problem: { loc: ['body', 'batch', index, 'project_id'], type: 'value_error', msg }, writes: [] }
}

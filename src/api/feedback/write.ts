import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import type { Problem } from '../../kernel/codec/problem.js'
import { feedbackDecider, feedbackStream } from '../../domain/feedback/feedback.js'
import { id as feedbackId } from '../../kernel/ids.js'
import { execute } from '../../kernel/execute.js'
import { inChunks } from '../../kernel/in-chunks.js'
import { inBody } from '../server/authorization.js'
import { idFor } from '../server/generated-id.js'
import { emptyResponse } from '../server/empty-response.js'
import { isCallDeleted } from '../../application/calls/folded-call.js'
import { parseRef } from '../../domain/refs/ref.js'
import { Failure, invalidField } from '../../application/failure.js'
import { namedIds } from '../server/purging.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { changeProject, writeProject } from '../server/route-kinds.js'
import { later } from '../../kernel/later.js'
import {
  feedbackBatch,
  feedbackBatchCreated,
  feedbackCreated,
  feedbackPurge,
  feedbackReplace,
} from './codecs.js'
import { feedbackCreate, type FeedbackCreate } from '../../application/feedback/new-feedback.js'
import { feedbackChecks } from '../../application/feedback/check-references.js'
import {
  AT_ONCE,
  lastOf,
  prepareBatch,
  type BatchOptions,
} from '../../application/feedback/record-feedback.js'

type WriteServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle' | 'scoringTools'>

export const feedbackWriteRoutes = (services: WriteServices): readonly AnyRoute[] => {
  const prepare = preparing(services)
  return [
    createRoute(services, prepare),
    createBatchRoute(services, prepare),
    purgeRoute(services),
    replaceRoute(services, prepare),
  ]
}

/** Feedback in a batch is recorded, and not readable, so that a deleted call does not refuse the rest. */
const refuseDeletedCalls = async (
  { eventStore }: Pick<Services, 'eventStore'>,
  batch: readonly FeedbackCreate[],
): Promise<void> => {
  for (const { project_id, weave_ref } of batch) {
    const ref = parseRef(weave_ref)
    if (ref?.kind === 'call' && (await isCallDeleted(eventStore, project_id, ref.id)))
      throw new Failure('not-found', 'weave_ref: the call was deleted.')
  }
}

const newId =
  (services: Pick<Services, 'ids' | 'sha256'>, request: RouteRequest) =>
  (index: number, one: FeedbackCreate): string =>
    idFor(services, request, index, one)

type Prepare = ReturnType<typeof preparing>

/** Checks the feedback of a request and returns a function that records it. */
const preparing = (services: WriteServices) => {
  const check = feedbackChecks(services)
  return async (request: RouteRequest, batch: readonly FeedbackCreate[], options: BatchOptions = {}) => {
    const record = prepareBatch(services, batch, request.cause, newId(services, request), options)
    if (options.placed === undefined) await refuseDeletedCalls(services, batch)
    await check(request.principal, batch, options.placed ?? ((problem) => problem))
    return record
  }
}

const createRoute = (services: WriteServices, prepare: Prepare): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/feedback/create',
    summary: 'Create feedback on a call or an object. With an id from the client it can be retried.',
    body: feedbackCreate,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict', 'bad-request'],
    response: feedbackCreated,
    project: inBody,
    handle: async (request) => {
      const record = await prepare(request, [request.body])
      return async () => {
        const { responses, position } = await record()
        return { body: responses[0]!, position }
      }
    },
  })

const createBatchRoute = (services: WriteServices, prepare: Prepare): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/feedback/batch/create',
    summary: 'Create several pieces of feedback. If one is invalid, none is created.',
    body: feedbackBatch,
    requestHeaders: ['Idempotency-Key'],
    errors: ['bad-request'],
    response: feedbackBatchCreated,
    project: ({ body: { batch } }) => batch.map(({ project_id }) => project_id),
    handle: async (request) => {
      const placed = (problem: Problem, index: number) => ({
        ...problem,
        loc: ['batch', index, ...problem.loc],
      })
      const record = await prepare(request, request.body.batch, { placed })
      return async () => {
        const { responses, position } = await record()
        return { body: { res: responses }, position }
      }
    },
  })

const purgeRoute = (services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading'>): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: '/feedback/purge',
    summary: 'Purge feedback by its ids.',
    body: feedbackPurge,
    response: emptyResponse,
    project: inBody,
    handle: ({ body: { project_id, query } }) => {
      const ids = [...new Set(namedIds(query.$expr, 'Feedback is'))].filter(feedbackId.is)
      return async (cause) => {
        const purged = await inChunks(ids, AT_ONCE, (id) => {
          const command = { type: 'PurgeFeedback', project_id, id } as const
          return execute(services)(feedbackDecider, feedbackStream(project_id, id), [command], cause)
        })
        return { body: {}, position: lastOf(purged.map(({ readableAt }) => readableAt)) }
      }
    },
  })

/** Writes the replacement before purging the old feedback, so that an interruption loses neither. */
const replaceRoute = (services: WriteServices, prepare: Prepare): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/feedback/replace',
    summary: 'Replace feedback: creates the new one and purges the old one.',
    body: feedbackReplace,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict', 'bad-request'],
    response: feedbackCreated,
    project: inBody,
    handle: async (request) => {
      const { feedback_id: id, ...replacement } = request.body
      const { project_id } = replacement
      if (replacement.id === id)
        throw invalidField(['id'], 'value_error', 'Value error, a replacement should have a new id')
      const record = await prepare(request, [replacement], { replacing: id })
      return async (cause) => {
        const { responses, position } = await record()
        const body = responses[0]!
        if (!feedbackId.is(id)) return { body, position }
        const command = { type: 'ReplaceFeedback', project_id, id, replaced_by: body.id } as const
        const stream = feedbackStream(project_id, id)
        const replaced = await execute(services)(feedbackDecider, stream, [command], cause)
        return { body, position: later(position, replaced.readableAt) }
      }
    },
  })

import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import type { Problem } from '../../kernel/codec/problem.js'
import { inBody } from '../server/authorization.js'
import { idFor } from '../server/idempotency.js'
import { emptyResponse } from '../server/empty-response.js'
import { invalidField } from '../../application/failure.js'
import { namedIds } from '../server/purging.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { changeProject, writeProject } from '../server/route-kinds.js'
import {
  feedbackBatch,
  feedbackBatchCreated,
  feedbackCreated,
  feedbackPurge,
  feedbackReplace,
} from './codecs.js'
import { feedbackCreate, type FeedbackCreate } from '../../application/feedback/new-feedback.js'
import {
  checkedBatches,
  purgeFeedback,
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

type Prepare = ReturnType<typeof preparing>

/** Checks the feedback of a request and returns a function that records it. */
const preparing = (services: WriteServices) => {
  const prepare = checkedBatches(services)
  return (request: RouteRequest, batch: readonly FeedbackCreate[], options?: BatchOptions) =>
    prepare(request, batch, (index, one) => idFor(services, request, index, one), options)
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
      const purge = purgeFeedback(services, project_id, namedIds(query.$expr, 'Feedback is'))
      return async (cause) => ({ body: {}, position: await purge(cause) })
    },
  })

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
      if (replacement.id === id)
        throw invalidField(['id'], 'value_error', 'Value error, a replacement should have a new id')
      const record = await prepare(request, [replacement], { replacing: id })
      return async () => {
        const { responses, position } = await record()
        return { body: responses[0]!, position }
      }
    },
  })

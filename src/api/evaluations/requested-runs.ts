import type { Ports } from '../../kernel/ports/ports.js'
import { presentReads } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { refuseUser } from '../../application/evaluations/referenced-objects.js'
import {
  requestModelEvaluation,
  requestRescore,
  writeRun,
} from '../../application/evaluations/requested-runs.js'
import { statusOf, type Status } from '../../application/evaluations/status.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, projectId } from '../../kernel/ids.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { inBody } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { idFor } from '../server/idempotency.js'
import { writtenAs, type AnyRoute, type RouteRequest } from '../server/route.js'
import { alsoReads, changeProject, readProject, writeProject } from '../server/route-kinds.js'
import { writing, type HasReader } from '../server/run.js'

type RunServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle' | 'scoringTools'>

const requested = { required: { call_id: string, evaluation_run_id: string } }

const ofRun = (name: string) => closed(name, { required: { project_id: projectId, call_id: id } })

const rescoreRequest = open('RescoreRequest', {
  required: { project_id: projectId, source_evaluation_run_id: id, scorer_refs: arrayOf(string, 1) },
  optional: { wb_user_id: nullable(string) },
})

const evaluateModelRequest = open('EvaluateModelRequest', {
  required: { project_id: projectId, evaluation_ref: string, model_ref: string },
  optional: { wb_user_id: nullable(string) },
})

/** What the routes have in common that request a run. */
const requesting = {
  method: 'post',
  requestHeaders: [...alsoReads.requestHeaders, 'Idempotency-Key'],
  errors: [...alsoReads.errors, 'conflict', 'not-found'],
  project: inBody,
} as const

/** The run of a request, with an id, and what is needed to check it. */
const requestedRun = <Run extends { readonly wb_user_id: string | null }>(
  services: RunServices,
  request: RouteRequest<Run> & HasReader,
) => {
  const { wb_user_id, ...run } = request.body
  refuseUser(wb_user_id)
  const id = idFor(services, request, 0)
  return [presentReads(services, request), request.principal, { ...run, id }] as const
}

const runId = (write: Awaited<ReturnType<typeof requestRescore>>) =>
  writing(write, ({ state: { request } }) => ({ call_id: request!.id, evaluation_run_id: request!.id }))

const rescoreRoute = (services: RunServices): AnyRoute =>
  writeProject(services, {
    ...requesting,
    path: '/evaluations/rescore',
    summary:
      'Apply scorers to the predictions of an evaluation run, as a new run. The model is not asked again. ' +
      'Poll the returned call_id with /evaluations/status.',
    body: rescoreRequest,
    response: open('RescoreResponse', requested),
    handle: async (request) => runId(await requestRescore(services, ...requestedRun(services, request))),
  })

const evaluateModelRoute = (services: RunServices): AnyRoute =>
  writeProject(services, {
    ...requesting,
    path: '/evaluations/evaluate_model',
    summary:
      'Ask an LLMStructuredCompletionModel about every row of the dataset of an Evaluation object, through the ' +
      'gateway, and score the answers. Poll the returned call_id with /evaluations/status.',
    body: evaluateModelRequest,
    response: open('EvaluateModelResponse', requested),
    handle: async (request) =>
      runId(await requestModelEvaluation(services, ...requestedRun(services, request))),
  })

const code = (value: string, properties: JsonObject) => ({
  type: 'object',
  properties: { code: { const: value }, ...properties },
  required: ['code', ...Object.keys(properties)],
})
const rows = { type: 'integer', minimum: 0 }

const statusResponse = writtenAs<{ readonly status: Status }>({
  title: 'EvaluationStatusResponse',
  type: 'object',
  required: ['status'],
  properties: {
    status: {
      anyOf: [
        code('not_found', {}),
        code('running', { completed_rows: rows, total_rows: rows }),
        code('failed', { error: { anyOf: [{ type: 'string' }, { type: 'null' }] } }),
        code('complete', { output: {}, warnings: { type: 'array', items: { type: 'string' } } }),
      ],
    },
  },
})

/** Also of runs that clients log. */
const statusRoute = (services: RunServices): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/evaluations/status',
    summary:
      'Read the status of an evaluation run: not_found, running with its progress, failed or complete.',
    body: ofRun('EvaluationStatusRequest'),
    errors: ['bad-request'],
    response: statusResponse,
    project: inBody,
    handle:
      ({ body: { project_id, call_id }, reader }) =>
      async (position) => ({
        body: { status: await statusOf(services, reader, project_id, call_id, position) },
      }),
  })

const cancelRoute = (services: RunServices): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: '/evaluations/cancel',
    summary:
      'Cancel an evaluation run that the service works on. Its scores so far stay; its status becomes failed. Idempotent.',
    body: ofRun('EvaluationCancelRequest'),
    errors: ['not-found', 'conflict'],
    response: emptyResponse,
    project: inBody,
    handle: ({ body: { project_id, call_id: id }, principal: { userId } }) => {
      const now = instantOf(services.clock.now())
      return writing(writeRun(services, { type: 'CancelEvaluationRun', project_id, id, userId, now }))
    },
  })

/** Evaluation runs that the service works on, and the status of any run. */
export const requestedRunRoutes = (services: RunServices): readonly AnyRoute[] => [
  rescoreRoute(services),
  evaluateModelRoute(services),
  statusRoute(services),
  cancelRoute(services),
]

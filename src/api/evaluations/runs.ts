import { createRun, finishRun, rootOfRun, runNow } from '../../application/evaluations/logged-runs.js'
import { callPages } from '../../application/evaluations/parsed-call.js'
import { type EvaluationCall, RUN_OP, textOf, weaveAttributes } from '../../domain/evaluations/run-calls.js'
import type { Operand, Operation } from '../../domain/query/expression.js'
import { nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { jsonObject, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { inPath } from '../server/authorization.js'
import { idFor } from '../server/idempotency.js'
import { JSON_LINES, linesOf, streamedLines } from '../server/json-pages.js'
import { presentReads } from '../server/read-conditions.js'
import {
  alsoReads,
  changeProject,
  readProject,
  readProjectLog,
  idempotent,
  writeProject,
} from '../server/route-kinds.js'
import type { AnyRoute } from '../server/route.js'
import { deleteRoute, type EvaluationRouteServices, inV2 } from './call-collections.js'
import { listInQuery, page, refText, requireFew, success } from './codecs.js'

const runCreate = open('EvaluationRunCreateRequest', {
  required: { evaluation: refText, model: refText },
  optional: { source_evaluation_run_id: nullableText(id) },
})

const run = open('EvaluationRun', {
  required: {
    evaluation_run_id: string,
    evaluation: string,
    model: string,
    status: oneOf('running', 'completed', 'failed'),
    started_at: instant,
  },
  optional: {
    finished_at: nullable(instant),
    summary: nullable(jsonObject),
    source_evaluation_run_id: nullable(string),
  },
})

const runList = open('EvaluationRunsQuery', {
  optional: {
    evaluations: withDefault(listInQuery, null),
    models: withDefault(listInQuery, null),
    evaluation_run_ids: withDefault(listInQuery, null),
    ...page,
  },
})

const createRoute = (services: EvaluationRouteServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: inV2('evaluation_runs'),
    summary: 'Start an evaluation run.',
    body: runCreate,
    ...idempotent,
    response: open('EvaluationRunCreateResponse', { required: { evaluation_run_id: string } }),
    project: inPath,
    handle: async (request) => {
      const call = { projectId: request.project, id: idFor(services, request, 0) }
      const write = await createRun(services, call, request.body)
      return async (cause) => ({ body: { evaluation_run_id: call.id }, ...(await write(cause)) })
    },
  })

const listRuns = (services: EvaluationRouteServices): AnyRoute =>
  readProject(services, {
    method: 'get',
    path: inV2('evaluation_runs'),
    summary: 'List evaluation runs, one per line, in the order of their start.',
    query: runList,
    response: { schema: linesOf('One evaluation run per line.', run.schema), type: JSON_LINES },
    project: inPath,
    handle: ({ query, project: projectId, reader }) => {
      for (const name of ['evaluations', 'models', 'evaluation_run_ids'] as const)
        requireFew(query[name] ?? [], ['query', name])
      return async (position) => {
        const pages = callPages(reader, {
          projectId,
          filter: { ...NO_FILTER, op_names: [RUN_OP], call_ids: query.evaluation_run_ids },
          operation: allOf(among('inputs.self', query.evaluations), among('inputs.model', query.models)),
          position,
          limit: query.limit,
          offset: query.offset,
        })
        async function* texts() {
          for await (const page of pages) yield page.map((call) => jsonText(runJson(call)))
        }
        return streamedLines(texts())
      }
    },
  })

const readRun = (services: EvaluationRouteServices): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: inV2('evaluation_runs/:evaluation_run_id'),
    summary: 'Read an evaluation run.',
    response: run,
    project: inPath,
    handle:
      ({ params, project }) =>
      async () => {
        const call = await runNow(services, project, params['evaluation_run_id']!)
        return { body: runJson(call) }
      },
  })

const finishRoute = (services: EvaluationRouteServices): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: inV2('evaluation_runs/:evaluation_run_id/finish'),
    summary:
      'Finish an evaluation run. Without a summary, one is computed from the scores of its rows. Finishing a finished ' +
      'run changes nothing.',
    body: open('EvaluationRunFinishRequest', { optional: { summary: nullable(jsonObject) } }),
    requestHeaders: alsoReads.requestHeaders,
    errors: [...alsoReads.errors, 'conflict'],
    response: success,
    project: inPath,
    handle: async (request) => {
      const { body, params, project } = request
      const reads = presentReads(services, request, true)
      const run = { projectId: project, id: params['evaluation_run_id']! }
      const write = await finishRun(services, reads, run, body.summary)
      return async (cause) => ({ body: { success: true }, ...(await write(cause)) })
    },
  })

/** Evaluation runs, including those of the SDKs. A run is the root call of its rows. */
export const runRoutes = (services: EvaluationRouteServices): readonly AnyRoute[] => [
  createRoute(services),
  listRuns(services),
  readRun(services),
  finishRoute(services),
  deleteRoute(services, 'evaluation_run', 'Delete evaluation runs with all their calls.', rootOfRun),
]

const allOf = (...operations: readonly (Operation | undefined)[]): Operation | null => {
  const present = operations.filter((operation) => operation !== undefined)
  return present.length === 0 ? null : { $and: present }
}

const among = (field: string, values: readonly string[] | null): Operation | undefined =>
  values === null
    ? undefined
    : { $in: [{ $getField: field }, values.map((value): Operand => ({ $literal: value }))] }

const runJson = (call: EvaluationCall): (typeof run)['answer'] => {
  const weave = weaveAttributes(call)
  return {
    evaluation_run_id: call.id,
    evaluation: textOf(weave['evaluation'] ?? call.inputs['self']) ?? '',
    model: textOf(weave['model'] ?? call.inputs['model']) ?? '',
    status: call.ended_at === null ? 'running' : call.exception === null ? 'completed' : 'failed',
    started_at: call.started_at,
    finished_at: call.ended_at,
    summary: isJsonObject(call.output) ? call.output : null,
    source_evaluation_run_id: textOf(weave['source_evaluation_run_id']),
  }
}

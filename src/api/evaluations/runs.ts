import type { Ports } from '../../kernel/ports/ports.js'
import { presentConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { jsonObject, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { newRunSummary } from '../../domain/evaluations/summary.js'
import {
  RUN_OP,
  SUMMARY_OP,
  roleOf,
  weaveAttributes,
  type EvaluationCall,
} from '../../domain/evaluations/run-calls.js'
import { id } from '../../kernel/ids.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Operand, Operation } from '../../domain/query/expression.js'
import { uuidOfDigest } from '../../kernel/uuid-of-digest.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { inPath } from '../server/authorization.js'
import { JSON_LINES, linesOf, streamedLines } from '../server/json-pages.js'
import type { AnyRoute } from '../server/route.js'
import {
  alsoReads,
  changeProject,
  readProject,
  readProjectLog,
  writeProject,
  type ProjectRequest,
} from '../server/route-kinds.js'
import { idFor } from '../server/idempotency.js'
import { callNow, callPages } from '../../application/evaluations/parsed-call.js'
import { listInQuery, page, refText, requireFew, success } from './codecs.js'
import { deleteRoute } from './delete-route.js'
import { inV2, noSuch, requireNotAtWork } from './found-calls.js'
import { rowsOf } from '../../application/evaluations/read-rows.js'
import { ending, starting, startOf, writeEvaluationCalls } from './write-evaluation-calls.js'

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

export const noSuchRun = () => noSuch('Evaluation run')

/** The run of an id in a project; a 404 where there is none. */
export const runNow =
  (services: Pick<Services, 'eventStore' | 'blobs'>) =>
  async (projectId: string, runId: string): Promise<EvaluationCall> => {
    const call = await callNow(services, projectId, runId)
    if (call === undefined || roleOf(call) !== 'run') throw noSuchRun()
    return call
  }

type RunServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

const createRun = (services: RunServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: inV2('evaluation_runs'),
    summary: 'Start an evaluation run.',
    body: runCreate,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: open('EvaluationRunCreateResponse', { required: { evaluation_run_id: string } }),
    project: inPath,
    handle: async (request) => {
      const { body, project: projectId } = request
      const { evaluation, model, source_evaluation_run_id: source } = body
      const runId = idFor(services, request, 0)
      const { startedAt } = await startOf(services, request, projectId, runId)
      const weave = {
        evaluation_run: 'true',
        evaluation,
        model,
        ...(source === null ? {} : { source_evaluation_run_id: source }),
      }
      const root = { projectId, id: runId, traceId: runId, parentId: null, op: RUN_OP, startedAt }
      const start = starting(services, { ...root, weave, inputs: { self: evaluation, model } })
      return async (cause) => ({
        body: { evaluation_run_id: runId },
        ...(await writeEvaluationCalls(services, projectId, [RUN_OP], [start], cause)),
      })
    },
  })

const listRuns = (services: RunServices): AnyRoute =>
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

const readRun = (services: RunServices): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: inV2('evaluation_runs/:evaluation_run_id'),
    summary: 'Read an evaluation run.',
    response: run,
    project: inPath,
    handle:
      ({ params, project }) =>
      async () => {
        const call = await runNow(services)(project, params['evaluation_run_id']!)
        return { body: runJson(call) }
      },
  })

const computedSummary = async (
  { reading, sha256 }: Pick<Services, 'reading' | 'sha256'>,
  runId: string,
  { project, headers, reader }: ProjectRequest,
) => {
  const position = await reading.waitForNow(project, { ...presentConditionsIn(headers), stale: false })
  const summary = newRunSummary()
  for await (const rows of rowsOf(reader, sha256)(project, runId, position))
    for (const row of rows) summary.add(row)
  return summary.result()
}

const finishRun = (services: RunServices): AnyRoute =>
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
      const { body, params, project: projectId } = request
      const found = await runNow(services)(projectId, params['evaluation_run_id']!)
      const { id: runId, ended_at, trace_id: traceId, inputs } = found
      if (ended_at !== null) return () => ({ body: { success: true } })
      requireNotAtWork(found)
      const summary = body.summary ?? (await computedSummary(services, runId, request))
      return async (cause) => {
        const now = instantOf(services.clock.now())
        const summarize = uuidOfDigest(services.sha256(JSON.stringify([projectId, runId, SUMMARY_OP])))
        const child = { projectId, id: summarize, traceId, parentId: runId, op: SUMMARY_OP, startedAt: now }
        const writes = [
          starting(services, {
            ...child,
            weave: { evaluation_run_id: runId },
            inputs: 'self' in inputs ? { self: inputs['self']! } : {},
          }),
          ending(child, now, summary),
          ending({ projectId, id: runId }, now, summary),
        ]
        try {
          const { position } = await writeEvaluationCalls(services, projectId, [SUMMARY_OP], writes, cause)
          return { body: { success: true }, position }
        } catch (error) {
          // Another request may have finished the run meanwhile.
          if ((await runNow(services)(projectId, runId)).ended_at === null) throw error
          return { body: { success: true } }
        }
      }
    },
  })

const deleteRuns = (services: RunServices): AnyRoute =>
  deleteRoute(services, {
    collection: 'evaluation_runs',
    parameter: 'evaluation_run_ids',
    summary: 'Delete evaluation runs with all their calls.',
    rootOf: (call) => Promise.resolve(roleOf(call) === 'run' ? call.id : undefined),
  })

/** Evaluation runs, including those of the SDKs. A run is the root call of its rows. */
export const runRoutes = (services: RunServices): readonly AnyRoute[] => [
  createRun(services),
  listRuns(services),
  readRun(services),
  finishRun(services),
  deleteRuns(services),
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

export const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)

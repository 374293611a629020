import type { Services } from '../../application/services.js'
import { closed } from '../../kernel/codec/struct.js'
import {
  evaluationDecider,
  evaluationStream,
  type EvaluationEvent,
  type EvaluationRunFinished,
} from '../../domain/evaluations/evaluation-run.js'
import { isEvaluationRun } from '../../domain/evaluations/run-calls.js'
import { id, projectId } from '../../kernel/ids.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { parseRef } from '../../domain/refs/ref.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import { objectValues } from '../../projections/objects/queries.js'
import { tableStats } from '../../projections/tables/queries.js'
import { inBody } from '../server/authorization.js'
import { Failure } from '../../application/failure.js'
import { writtenAs, type AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { foldedCall } from '../../application/calls/folded-call.js'
import { countRows } from '../../application/evaluations/progress.js'

const statusRequest = closed('EvaluationStatusRequest', { required: { project_id: projectId, call_id: id } })

const code = (value: string, properties: JsonObject) => ({
  type: 'object',
  properties: { code: { const: value }, ...properties },
  required: ['code', ...Object.keys(properties)],
})
const rows = { type: 'integer', minimum: 0 }

type Status =
  | { readonly code: 'not_found' }
  | { readonly code: 'running'; readonly completed_rows: number; readonly total_rows: number }
  | { readonly code: 'failed'; readonly error: string | null }
  | { readonly code: 'complete'; readonly output: Json; readonly warnings: readonly string[] }

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

/** `POST /evaluations/status`: of runs that the service was asked for, and of runs that clients log. */
export const statusRoute = (
  services: Pick<Services, 'eventStore' | 'blobs' | 'access' | 'reading'>,
): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/evaluations/status',
    summary:
      'Read the status of an evaluation run: not_found, running with its progress, failed or complete.',
    body: statusRequest,
    errors: ['bad-request'],
    response: statusResponse,
    project: inBody,
    handle:
      ({ body: { project_id, call_id }, reader }) =>
      async (position) => ({
        body: { status: await statusOf(services, reader, project_id, call_id, position) },
      }),
  })

const statusOf = async (
  services: Pick<Services, 'eventStore' | 'blobs'>,
  reader: ClickHouseReader,
  projectId: string,
  id: string,
  position: Position,
): Promise<Status> => {
  const { request, finished } = await runAt(services, projectId, id, position)
  const call = await foldedCall(services)(projectId, id, position)
  if (request !== null) {
    if (finished !== null) {
      const isDeleted = finished.outcome === 'completed' && call === undefined
      return isDeleted ? { code: 'not_found' } : statusOfFinished(finished)
    }
    const completed_rows = await countRows(reader, projectId, id, position, 'ended')
    return { code: 'running', completed_rows, total_rows: Math.max(completed_rows, request.total_rows) }
  }
  return call === undefined ? { code: 'not_found' } : statusOfCall(reader, call, position)
}

const runAt = async (services: Pick<Services, 'eventStore'>, projectId: string, id: string, at: Position) => {
  let state = evaluationDecider.initialState()
  for await (const event of services.eventStore.readStream(evaluationStream(projectId, id))) {
    if (event.position > at) break
    state = evaluationDecider.evolve(state, event as unknown as EvaluationEvent)
  }
  return state
}

const statusOfFinished = ({ outcome, error, summary, warnings }: EvaluationRunFinished): Status =>
  outcome === 'completed' ? { code: 'complete', output: summary, warnings } : { code: 'failed', error }

/** A run that a client logs. */
const statusOfCall = async (
  reader: ClickHouseReader,
  call: StoredCall,
  position: Position,
): Promise<Status> => {
  if (!isEvaluationRun(call.op_name, objectIn(call.attributes)))
    throw new Failure('bad-request', `Call ${call.id} is not an evaluation run.`)
  if (call.exception !== null) return { code: 'failed', error: call.exception }
  if (call.ended_at !== null)
    return { code: 'complete', output: parseJson(call.output ?? 'null'), warnings: [] }
  const completed_rows = await countRows(reader, call.project_id, call.id, position, 'ended')
  const total = await datasetRows(reader, call, position)
  return { code: 'running', completed_rows, total_rows: Math.max(completed_rows, total ?? 0) }
}

/** The rows of the dataset that the run's Evaluation object names; undefined where it cannot be found. */
const datasetRows = async (
  reader: ClickHouseReader,
  { project_id, inputs }: StoredCall,
  position: Position,
): Promise<number | undefined> => {
  const read = async (ref: Json | undefined): Promise<JsonObject | null> => {
    const parsed = typeof ref === 'string' ? parseRef(ref) : undefined
    if (parsed?.kind !== 'object' || parsed.projectId !== project_id) return null
    const wanted = [{ objectId: parsed.objectId, digest: parsed.version }]
    return objectIn((await objectValues(reader)(project_id, wanted, position))[0] ?? null)
  }
  const evaluation = await read(objectIn(inputs)?.['self'])
  const dataset = await read(evaluation?.['dataset'])
  const rows = dataset?.['rows']
  const table = typeof rows === 'string' ? parseRef(rows) : undefined
  if (table?.kind !== 'table' || table.projectId !== project_id) return undefined
  const [stats] = await tableStats(reader)(project_id, [table.digest], position)
  return stats?.row_count
}

const objectIn = (text: string | null): JsonObject | null => {
  const value = text === null ? null : parseJson(text)
  return isJsonObject(value) ? value : null
}

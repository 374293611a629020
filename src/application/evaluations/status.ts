import {
  evaluationDecider,
  type EvaluationRunFinished,
  evaluationStream,
} from '../../domain/evaluations/evaluation-run.js'
import { isEvaluationRun } from '../../domain/evaluations/run-calls.js'
import type { Operation } from '../../domain/query/expression.js'
import { parseRef } from '../../domain/refs/ref.js'
import { load } from '../../kernel/execute.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import { countCalls } from '../../projections/calls/count.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { objectValues } from '../../projections/objects/queries.js'
import { tableStats } from '../../projections/tables/queries.js'
import { foldedCall } from '../calls/folded-call.js'
import { Failure } from '../failure.js'
import type { Services } from '../services.js'

export type Status =
  | { readonly code: 'not_found' }
  | { readonly code: 'running'; readonly completed_rows: number; readonly total_rows: number }
  | { readonly code: 'failed'; readonly error: string | null }
  | { readonly code: 'complete'; readonly output: Json; readonly warnings: readonly string[] }

/** The status of a run that the service was asked for, or that a client logs. */
export const statusOf = async (
  services: Pick<Services, 'eventStore' | 'blobs'>,
  reader: ClickHouseReader,
  projectId: string,
  id: string,
  position: Position,
): Promise<Status> => {
  const stream = evaluationStream(projectId, id)
  const { request, finished } = (await load(services, evaluationDecider, stream, position)).state
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

const opContains = (substr: string): Operation => ({
  $contains: { input: { $getField: 'op_name' }, substr: { $literal: substr }, case_insensitive: false },
})

const IS_ROW: Operation = {
  $or: [opContains('Evaluation.predict_and_score'), opContains('Evaluation.predictAndScore')],
}

const HAS_ENDED: Operation = { $not: [{ $eq: [{ $getField: 'ended_at' }, { $literal: null }] }] }

/** Counts the rows of an evaluation run so far. */
export const countRows = async (
  reader: ClickHouseReader,
  projectId: string,
  runId: string,
  position: Position,
  which: 'all' | 'ended' = 'all',
): Promise<number> => {
  const filter = { ...NO_FILTER, parent_ids: [runId] }
  const operation = which === 'all' ? IS_ROW : { $and: [IS_ROW, HAS_ENDED] }
  return (await countCalls(reader)({ projectId, filter, operation, position }, null)).count
}

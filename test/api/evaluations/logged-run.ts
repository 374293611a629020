import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import type { Answered, Client, SendOptions } from '../../support/client.js'

export interface LoggedRow {
  readonly example: Json
  readonly output: Json
  readonly exception?: string
  /** The row and its model call are started only. */
  readonly isUnfinished?: boolean
}

const START = Date.parse('2026-01-01T00:00:00Z')
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString()

export const scorerObject = (className: string, fields: JsonObject = {}): JsonObject => ({
  _type: className,
  _class_name: className,
  _bases: ['Scorer', 'Object', 'BaseModel'],
  ...fields,
})

export interface LoggedRun {
  readonly id: string
  readonly evaluation: string
  readonly model: string
}

/** Logs an evaluation run as the Python SDK does: a row, a model call and a latency of half a second each. */
export const logRun = async (
  service: Client,
  project: string,
  rows: readonly LoggedRow[],
  options?: SendOptions,
): Promise<LoggedRun> => {
  const { objects } = service.in(project).with(options)
  const evaluation = await objects.publish('capitals', {
    _type: 'Evaluation',
    _class_name: 'Evaluation',
    _bases: ['Object', 'BaseModel'],
    name: 'capitals',
    scorers: [],
  })
  const model = await objects.publish('model', { _type: 'Model', _class_name: 'Model' })
  const run = randomUUID()
  const of = { project_id: project, trace_id: run, attributes: {} }
  const op = (name: string) => `weave:///${project}/op/${name}:1`
  const batch: JsonObject[] = []
  const start = (fields: JsonObject) => batch.push({ mode: 'start', req: { start: { ...of, ...fields } } })
  const end = (fields: JsonObject) =>
    batch.push({ mode: 'end', req: { end: { project_id: project, summary: {}, ...fields } } })
  start({
    id: run,
    op_name: op('Evaluation.evaluate'),
    started_at: at(0),
    parent_id: null,
    inputs: { self: evaluation, model },
  })
  for (const [index, { example, output, exception, isUnfinished = false }] of rows.entries()) {
    const [row, prediction] = [randomUUID(), randomUUID()]
    start({
      id: row,
      op_name: op('Evaluation.predict_and_score'),
      started_at: at(index),
      parent_id: run,
      inputs: { self: evaluation, model, example },
    })
    start({
      id: prediction,
      op_name: op('Model.predict'),
      started_at: at(index),
      parent_id: row,
      inputs: { self: model, example },
    })
    if (isUnfinished) continue
    const failed = exception === undefined ? {} : { exception }
    const usage = { 'gpt-4o': { requests: 1, prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }
    end({ id: prediction, ended_at: at(index + 0.5), output, summary: { usage }, ...failed })
    end({ id: row, ended_at: at(index + 0.6), output: { output, scores: {}, model_latency: 0.5 } })
  }
  end({ id: run, ended_at: at(rows.length), output: {} })
  for (let from = 0; from < batch.length; from += 1000)
    await service.post('/call/upsert_batch', { batch: batch.slice(from, from + 1000) }, options)
  return { id: run, evaluation, model }
}

export type Status = Record<string, Json> & { readonly code: string }

/** Polls until the run is no longer running. */
export const finishedStatus = async (
  service: Client,
  project_id: string,
  call_id: string,
  options?: SendOptions,
  pollMs = 20,
): Promise<Status> => {
  for (;;) {
    const { status } = await service.in(project_id).with(options).evaluations.status({ call_id }).json()
    if (status.code !== 'running') return status
    await sleep(pollMs)
  }
}

export const rescore = (
  service: Client,
  project_id: string,
  source_evaluation_run_id: string,
  scorer_refs: readonly string[],
  options?: SendOptions,
): Promise<Answered> =>
  service.in(project_id).with(options).evaluations.rescore({ source_evaluation_run_id, scorer_refs })

export interface Call extends JsonObject {
  readonly id: string
  readonly op_name: string
  readonly display_name: string | null
  readonly parent_id: string | null
  readonly output: Json
  readonly exception: string | null
  readonly inputs: JsonObject
  readonly attributes: JsonObject
  readonly summary: JsonObject
  readonly ended_at: string | null
}

export const callsOfTrace = async (
  service: Client,
  project_id: string,
  trace: string,
): Promise<readonly Call[]> => {
  const sort_by = [{ field: 'started_at', direction: 'asc' }]
  const lines = await service
    .in(project_id)
    .calls.stream({ filter: { trace_ids: [trace] }, sort_by })
    .lines()
  return lines as readonly Call[]
}

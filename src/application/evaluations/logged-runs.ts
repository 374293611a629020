import { OP_WITHOUT_CODE, refOfOp } from '../../domain/evaluations/ops.js'
import { type EvaluationCall, roleOf, RUN_OP, SUMMARY_OP } from '../../domain/evaluations/run-calls.js'
import { newRunSummary } from '../../domain/evaluations/summary.js'
import { type Instant, instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { inChunks } from '../../kernel/in-chunks.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { uuidOfDigest } from '../../kernel/uuid-of-digest.js'
import { type CallWrite, endCall, startCall } from '../calls/record.js'
import { writeCalls, type WriteResults } from '../calls/write-calls.js'
import { Failure } from '../failure.js'
import { publishObject } from '../objects/publish.js'
import { callNow } from './parsed-call.js'
import { rowsOf } from './read-rows.js'
import type { ObjectReads } from './referenced-objects.js'

export type CallReads = Pick<Ports, 'eventStore' | 'blobs'>

/** Writes once the request is checked. Without a position, nothing was written. */
export type EvaluationWrite = (cause: Cause) => Promise<Pick<WriteResults, 'position'>>

/** A call by its id, or the id for a new one. */
export interface OfCall {
  readonly projectId: string
  readonly id: string
}

export interface NewCall extends OfCall {
  readonly traceId: string
  readonly parentId: string | null
  readonly op: string
  readonly startedAt: Instant
  /** The call's `attributes.weave`. */
  readonly weave: JsonObject
  readonly inputs: JsonObject
}

export const noSuch = (what: string): Failure =>
  new Failure('not-found', `${what} not found in this project.`)

/** @throws Failure for a run that has ended: its summary would not include what is added. */
export const requireInProgress = (run: EvaluationCall): void => {
  requireNotAtWork(run)
  if (run.ended_at !== null)
    throw new Failure(
      'conflict',
      'The evaluation run has ended, and its summary does not change. Add predictions and scores before it is finished.',
    )
}

/** @throws Failure for a call of a run in progress that the service was asked for: only the service writes to it. */
export const requireNotAtWork = ({ attributes, ended_at }: EvaluationCall): void => {
  const { tallytree = null } = attributes
  if (ended_at === null && isJsonObject(tallytree) && 'evaluation_run_id' in tallytree)
    throw new Failure('conflict', 'The service works on this evaluation run. Cancel it to end it early.')
}

export const parentNow = async (reads: CallReads, projectId: string, { parent_id }: EvaluationCall) =>
  parent_id === null ? undefined : callNow(reads, projectId, parent_id)

/** When a call that a request creates began: for a repeat of the request, when it began first. */
export const startOf = async (services: CallReads & Pick<Ports, 'clock'>, { projectId, id }: OfCall) => {
  const earlier = await callNow(services, projectId, id)
  const startedAt = earlier?.started_at ?? instantOf(services.clock.now())
  return { startedAt, isRepeat: earlier !== undefined }
}

export const starting = (services: Pick<Ports, 'sha256'>, call: NewCall): CallWrite =>
  startCall(call.id, {
    project_id: call.projectId,
    op_name: refOfOp(services.sha256, call.projectId, call.op),
    trace_id: call.traceId,
    parent_id: call.parentId,
    started_at: call.startedAt,
    attributes: { weave: call.weave },
    inputs: call.inputs,
  })

export const ending = ({ projectId, id }: OfCall, endedAt: Instant, output: Json): CallWrite =>
  endCall({ project_id: projectId, id, ended_at: endedAt, output })

/** Writes calls, with the ops that they name; refused as a whole where one call conflicts with a recorded one. */
export const writeEvaluationCalls = async (
  services: Ports,
  projectId: string,
  ops: readonly string[],
  writes: readonly CallWrite[],
  cause: Cause,
): Promise<Pick<WriteResults, 'position'>> => {
  await Promise.all(
    ops.map((object_id) => publishObject(services)(projectId, object_id, OP_WITHOUT_CODE, cause)),
  )
  const { written, position } = await writeCalls(services)(writes, cause)
  for (const { refused } of written)
    if (refused === 'too-large') throw new Failure('too-large', 'The call is too large for one event.')
    else if (refused !== undefined) throw new Failure('conflict', refused.reason)
  return { position }
}

/** Ends a call. If another request has ended it meanwhile, nothing is written. */
export const endingOnce =
  (
    services: Ports,
    { projectId, id }: OfCall,
    ops: readonly string[],
    writesAt: (now: Instant) => readonly CallWrite[],
  ): EvaluationWrite =>
  async (cause) => {
    const now = instantOf(services.clock.now())
    try {
      return await writeEvaluationCalls(services, projectId, ops, writesAt(now), cause)
    } catch (error) {
      const call = await callNow(services, projectId, id)
      if (call === undefined || call.ended_at === null) throw error
      return { position: undefined }
    }
  }

/** The call to delete with all its descendants; undefined for a call that is not of the collection. */
export type RootOf = (
  reads: CallReads,
  projectId: string,
  call: EvaluationCall,
) => Promise<string | undefined>

/** The calls to delete; unknown ids are ignored. */
export const rootsOf = async (
  reads: CallReads,
  projectId: string,
  ids: readonly string[],
  rootOf: RootOf,
): Promise<readonly string[]> => {
  const roots = await inChunks(ids, 100, async (id) => {
    const call = await callNow(reads, projectId, id)
    return call && rootOf(reads, projectId, call)
  })
  return roots.filter((root) => root !== undefined)
}

export const noSuchRun = () => noSuch('Evaluation run')

/** The run of an id in a project; a 404 where there is none. */
export const runNow = async (reads: CallReads, projectId: string, runId: string): Promise<EvaluationCall> => {
  const call = await callNow(reads, projectId, runId)
  if (call === undefined || roleOf(call) !== 'run') throw noSuchRun()
  return call
}

export const rootOfRun: RootOf = (_reads, _projectId, call) =>
  Promise.resolve(roleOf(call) === 'run' ? call.id : undefined)

interface RunContent {
  readonly evaluation: string
  readonly model: string
  readonly source_evaluation_run_id: string | null
}

/** Starts a run that a client logs. */
export const createRun = async (
  services: Ports,
  created: OfCall,
  { evaluation, model, source_evaluation_run_id: source }: RunContent,
): Promise<EvaluationWrite> => {
  const { projectId, id } = created
  const { startedAt } = await startOf(services, created)
  const ofSource = source === null ? {} : { source_evaluation_run_id: source }
  const weave = { evaluation_run: 'true', evaluation, model, ...ofSource }
  const root = { projectId, id, traceId: id, parentId: null, op: RUN_OP, startedAt }
  const start = starting(services, { ...root, weave, inputs: { self: evaluation, model } })
  return (cause) => writeEvaluationCalls(services, projectId, [RUN_OP], [start], cause)
}

/** Finishes a run, by default with a summary of the scores of its rows. A run that has ended stays as it is. */
export const finishRun = async (
  services: Ports,
  reads: ObjectReads,
  { projectId, id }: OfCall,
  given: JsonObject | null,
): Promise<EvaluationWrite> => {
  const run = await runNow(services, projectId, id)
  if (run.ended_at !== null) return () => Promise.resolve({ position: undefined })
  requireNotAtWork(run)
  const { trace_id: traceId, inputs } = run
  const summary = given ?? (await computedSummary(services, reads, projectId, id))
  const summarize = uuidOfDigest(services.sha256(JSON.stringify([projectId, id, SUMMARY_OP])))
  const of = { projectId, id: summarize, traceId, parentId: id, op: SUMMARY_OP }
  const weave = { evaluation_run_id: id }
  const child = { ...of, weave, inputs: 'self' in inputs ? { self: inputs['self']! } : {} }
  return endingOnce(services, { projectId, id }, [SUMMARY_OP], (now) => [
    starting(services, { ...child, startedAt: now }),
    ending(child, now, summary),
    ending({ projectId, id }, now, summary),
  ])
}

const computedSummary = async (
  { sha256 }: Pick<Ports, 'sha256'>,
  { reader, positionOf }: ObjectReads,
  projectId: string,
  runId: string,
) => {
  const summary = newRunSummary()
  const position = await positionOf(projectId)
  for await (const rows of rowsOf(reader, sha256)(projectId, runId, position!))
    for (const row of rows) summary.add(row)
  return summary.result()
}

import type { Instant } from '../../kernel/codec/instant.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { ScorableRow, Scored } from '../../domain/evaluations/scoring.js'
import type { Cause } from '../../kernel/event.js'
import { entityOf } from '../../kernel/ids.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { endCall, startCall, type CallWrite } from '../../application/calls/record.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { recordCalls, type WriteServices } from '../../application/evaluations/record.js'
import type { EvaluationServices } from '../../application/evaluations/services.js'
import type { RowToScore } from '../../application/evaluations/source-rows.js'
import type { RunUser } from '../../application/evaluations/user-reads.js'
import type { QueuedScorer } from './scorer-queue.js'

/** The context that all rows of a run share. */
export interface RowsOfRun {
  readonly projectId: string
  readonly runId: string
  readonly evaluation: Json
  readonly model: Json
  readonly user: RunUser
  readonly cause: Cause
  readonly scorers: readonly QueuedScorer[]
  /** The id of a call of this run, always the same for the same names. */
  readonly idOf: (...names: readonly string[]) => string
  /** When the next row starts: never twice the same. */
  readonly nextStart: () => Instant
  /** Aborts when the run is canceled or the process stops. */
  readonly signal: AbortSignal
}

/** The model's answer to a row's example. */
export interface Prediction {
  /** Not written yet. */
  readonly writes: readonly CallWrite[]
  readonly output: Json
  /** Seconds. */
  readonly modelLatency: number | null
  /** Why it is not scored; null if it is. */
  readonly skipped: string | null
}

/** The call of a row, and when it started. */
export interface RowPlace {
  readonly rowId: string
  readonly startedAt: Instant
  /** The start of the row's call; writing it again changes nothing. */
  readonly start: CallWrite
}

/** Copies the prediction of a source run, or asks the model. */
export type Predict<Row extends RowToScore> = (row: Row, place: RowPlace) => Promise<Prediction>

export interface RowOutcome {
  readonly scores: JsonObject
  readonly modelLatency: number | null
  /** Why the prediction was not scored; null if it was. */
  readonly skipped: string | null
  /** Why a scorer failed, by its name. */
  readonly failures: Readonly<Record<string, string>>
}

type RowServices = WriteServices & Pick<EvaluationServices, 'throttle'>

/**
 * Scores one row and records it: the row, a copy of its prediction, and one call for each scorer. What an earlier,
 * interrupted attempt recorded is found by the ids of the calls and kept.
 */
export const scoreRow =
  <Row extends RowToScore>(services: RowServices, run: RowsOfRun, predict: Predict<Row>) =>
  async (row: Row): Promise<RowOutcome> => {
    const rowId = run.idOf(row.key)
    const nextStart = run.nextStart()
    const call = await callNow(services, run.projectId, rowId)
    if (call !== undefined && call.ended_at !== null) return recordedOutcome(services, run, row, call)
    const isResumed = call !== undefined
    const now = (): Instant => instantOf(services.clock.now())
    const startedAt = call?.started_at ?? nextStart
    const start = rowStart(run, rowId, row, startedAt)
    await services.throttle(entityOf(run.projectId))
    const prediction = await predict(row, { rowId, startedAt, start })
    const { output, modelLatency, skipped } = prediction
    const { exampleValue } = row
    // An example that is no object has no columns.
    const scorable: ScorableRow = { example: isJsonObject(exampleValue) ? exampleValue : {}, output }
    const scorers = skipped === null ? run.scorers : []

    const earlier = new Map<string, EvaluationCall | undefined>()
    if (isResumed)
      for (const { name } of scorers)
        earlier.set(name, await callNow(services, run.projectId, run.idOf(row.key, name)))

    const begin = [
      ...(isResumed ? [] : [start]),
      ...prediction.writes,
      ...scorers
        .filter(({ name }) => earlier.get(name) === undefined)
        .map((scorer) => scorerStart(run, rowId, row, output, scorer, startedAt)),
    ]
    const isLocal = scorers.every((scorer) => scorer.isLocal)
    // Before a scorer of another service is asked, its call is durable: after a crash the repeat is known as one.
    if (!isLocal) await recordCalls(services, begin, run.cause)

    const scores: Record<string, Json> = {}
    const failures: Record<string, string> = {}
    const ends: CallWrite[] = []
    // No scorer may still be at work when the row is tried again.
    const all = await Promise.allSettled(
      scorers.map(async (scorer) => {
        const call = earlier.get(scorer.name)
        if (call !== undefined && call.ended_at !== null) {
          scores[scorer.name] = call.exception === null ? call.output : null
          if (call.exception !== null) failures[scorer.name] = call.exception
          return
        }
        const scored = await applyScorer(run, rowId, row, scorable, scorer, call !== undefined)
        const failed = 'failed' in scored ? scored.failed : null
        scores[scorer.name] = 'value' in scored ? scored.value : null
        if (failed !== null) failures[scorer.name] = failed
        const id = run.idOf(row.key, scorer.name)
        ends.push(
          endCall({
            project_id: run.projectId,
            id,
            ended_at: now(),
            output: 'value' in scored ? scored.value : null,
            exception: failed,
          }),
        )
      }),
    )
    // The scores of an aborted row are not the scorers' answers.
    run.signal.throwIfAborted()
    for (const applied of all) if (applied.status === 'rejected') throw applied.reason
    const ordered = Object.fromEntries(scorers.map(({ name }) => [name, scores[name] ?? null]))
    const rowEnd = endCall({
      project_id: run.projectId,
      id: rowId,
      ended_at: now(),
      output: { output, scores: ordered, model_latency: modelLatency },
      ...(skipped === null ? {} : { summary: { tallytree: { skipped } } }),
    })
    await recordCalls(services, [...(isLocal ? begin : []), ...ends, rowEnd], run.cause)
    return { scores: ordered, modelLatency, skipped, failures }
  }

/** The outcome of a row that was recorded before a restart; why a scorer failed is in its call. */
const recordedOutcome = async (
  services: RowServices,
  run: RowsOfRun,
  { key }: RowToScore,
  { output, summary }: EvaluationCall,
): Promise<RowOutcome> => {
  const recorded = isJsonObject(output) ? output : {}
  const scores = memberOf(recorded, 'scores')
  const { skipped = null } = memberOf(summary, 'tallytree')
  const failures: Record<string, string> = {}
  for (const { name } of skipped === null ? run.scorers : []) {
    if ((scores[name] ?? null) !== null) continue
    const call = await callNow(services, run.projectId, run.idOf(key, name))
    if (call !== undefined && call.exception !== null) failures[name] = call.exception
  }
  const { model_latency: latency } = recorded
  return {
    scores,
    failures,
    modelLatency: typeof latency === 'number' ? latency : null,
    skipped: typeof skipped === 'string' ? skipped : null,
  }
}

const memberOf = (holder: JsonObject, name: string): JsonObject => {
  const member = holder[name] ?? null
  return isJsonObject(member) ? member : {}
}

const applyScorer = (
  run: RowsOfRun,
  rowId: string,
  { key }: RowToScore,
  scorable: ScorableRow,
  scorer: QueuedScorer,
  mayBeRepeat: boolean,
): Promise<Scored> =>
  scorer.score(scorable, {
    projectId: run.projectId,
    runId: run.runId,
    traceId: run.runId,
    rowId,
    scoreId: run.idOf(key, scorer.name),
    mayBeRepeat,
    ...run.user,
    signal: run.signal,
  })

/** Online evaluation leaves out the calls that are marked so. */
export const attributesOf = ({ runId }: RowsOfRun): JsonObject => ({
  tallytree: { evaluation_run_id: runId },
})

const rowStart = (
  run: RowsOfRun,
  id: string,
  { opName, example }: RowToScore,
  startedAt: Instant,
): CallWrite =>
  startCall(id, {
    project_id: run.projectId,
    op_name: opName,
    trace_id: run.runId,
    parent_id: run.runId,
    started_at: startedAt,
    attributes: attributesOf(run),
    inputs: { self: run.evaluation, model: run.model, example },
  })

const scorerStart = (
  run: RowsOfRun,
  rowId: string,
  { key, example }: RowToScore,
  output: Json,
  { name, ref }: QueuedScorer,
  startedAt: Instant,
): CallWrite =>
  startCall(run.idOf(key, name), {
    project_id: run.projectId,
    op_name: `${name}.score`,
    trace_id: run.runId,
    parent_id: rowId,
    started_at: startedAt,
    attributes: {
      ...attributesOf(run),
      weave: { score: 'true', scorer: ref, prediction_id: run.idOf(key, '', 'predict') },
    },
    inputs: { self: ref, output, example },
  })

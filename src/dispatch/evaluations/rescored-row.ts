import type { Instant } from '../../domain/codec/instant.js'
import { instantOf } from '../../domain/codec/instant.js'
import type { Scored } from '../../domain/evaluation/scoring.js'
import type { Cause } from '../../domain/event.js'
import { isJsonObject, type Json, type JsonObject } from '../../domain/json/json.js'
import { CANCELED, isCanceled } from './canceled.js'
import { endOfCall, startOfCall } from './call-writes.js'
import type { CallWrite, EvaluationPorts, RunUser, SourceRow } from './ports.js'
import type { QueuedScorer } from './scorer-queue.js'

/** What the rows of a run have in common. */
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
  /** Aborts when the run is canceled or the process stops. */
  readonly signal: AbortSignal
}

export interface RowOutcome {
  readonly scores: JsonObject
  readonly modelLatency: number | null
  /** Why the prediction was not scored; null if it was. */
  readonly skipped: string | null
  /** Why a scorer failed, by its name. */
  readonly failures: Readonly<Record<string, string>>
}

type Ports = Pick<EvaluationPorts, 'writeCalls' | 'call' | 'clock' | 'throttle'>

/**
 * Scores one row and records it: the row, a copy of its prediction, and one call for each scorer. What an earlier,
 * interrupted attempt recorded is found by the ids of the calls and kept.
 */
export const scoreRow =
  (ports: Ports, run: RowsOfRun) =>
  async (source: SourceRow): Promise<RowOutcome> => {
    const rowId = run.idOf(source.row.id)
    const known = await ports.call(run.projectId, rowId)
    if (known !== undefined && known.ended_at !== null)
      return recordedOutcome(ports, run, known.output, source)
    const isResumed = known !== undefined
    const skipped = reasonToSkip(source)
    const scorers = skipped === null ? run.scorers : []
    const now = (): Instant => instantOf(ports.clock.now())
    const startedAt = known?.started_at ?? now()

    const earlier = new Map<string, Awaited<ReturnType<Ports['call']>>>()
    if (isResumed)
      for (const { name } of scorers)
        earlier.set(name, await ports.call(run.projectId, run.idOf(source.row.id, name)))

    const begin = [
      ...(isResumed ? [] : [rowStart(run, rowId, source, startedAt)]),
      ...predictionWrites(run, rowId, source, startedAt),
      ...scorers
        .filter(({ name }) => earlier.get(name) === undefined)
        .map((scorer) => scorerStart(run, rowId, source, scorer, startedAt)),
    ]
    const isLocal = scorers.every((scorer) => scorer.isLocal)
    await ports.throttle()
    // Before a scorer of another service is asked, its call is durable: after a crash the repeat is known as one.
    if (!isLocal) await ports.writeCalls(begin, run.cause)

    const scores: Record<string, Json> = {}
    const failures: Record<string, string> = {}
    const ends: CallWrite[] = []
    await Promise.all(
      scorers.map(async (scorer) => {
        const call = earlier.get(scorer.name)
        if (call !== undefined && call.ended_at !== null) {
          scores[scorer.name] = call.exception === null ? call.output : null
          if (call.exception !== null) failures[scorer.name] = call.exception
          return
        }
        const scored = await applyScorer(run, rowId, source, scorer, call !== undefined)
        const failed = 'failed' in scored ? scored.failed : null
        scores[scorer.name] = 'value' in scored ? scored.value : null
        if (failed !== null) failures[scorer.name] = failed
        const id = run.idOf(source.row.id, scorer.name)
        ends.push(
          endOfCall({
            ...{ projectId: run.projectId, id, endedAt: now() },
            ...{ output: 'value' in scored ? scored.value : null, exception: failed },
          }),
        )
      }),
    )
    // The scores of an aborted row are not the scorers' answers.
    if (run.signal.aborted) {
      if (isCanceled(run.signal) && !isLocal) await ports.writeCalls(canceledEnds(run, rowId, source, now()), run.cause)
      throw run.signal.reason
    }
    const ordered = Object.fromEntries(scorers.map(({ name }) => [name, scores[name] ?? null]))
    const { modelLatency } = source.row
    const output = { output: source.row.output, scores: ordered, model_latency: modelLatency }
    const rowEnd = endOfCall({ projectId: run.projectId, id: rowId, endedAt: now(), output })
    await ports.writeCalls([...(isLocal ? begin : []), ...ends, rowEnd], run.cause)
    return { scores: ordered, modelLatency, skipped, failures }
  }

/** Ends what was begun for a row when its run is canceled. */
const canceledEnds = (run: RowsOfRun, rowId: string, { row }: SourceRow, endedAt: Instant): readonly CallWrite[] =>
  [rowId, ...run.scorers.map(({ name }) => run.idOf(row.id, name))].map((id) =>
    endOfCall({ projectId: run.projectId, id, endedAt, output: null, exception: CANCELED }),
  )

/** The outcome of a row that was recorded before a restart; why a scorer failed is in its call. */
const recordedOutcome = async (
  ports: Pick<Ports, 'call'>,
  run: RowsOfRun,
  output: Json,
  source: SourceRow,
): Promise<RowOutcome> => {
  const scores = isJsonObject(output) && isJsonObject(output['scores']) ? output['scores'] : {}
  const skipped = reasonToSkip(source)
  const failures: Record<string, string> = {}
  for (const { name } of skipped === null ? run.scorers : []) {
    if ((scores[name] ?? null) !== null) continue
    const call = await ports.call(run.projectId, run.idOf(source.row.id, name))
    if (call !== undefined && call.exception !== null) failures[name] = call.exception
  }
  return { scores, modelLatency: source.row.modelLatency, skipped, failures }
}

/** As the SDKs do, a prediction that failed is not scored. */
const reasonToSkip = ({ row, prediction }: SourceRow): string | null => {
  if (row.endedAt === null) return 'the prediction did not finish'
  return row.exception !== null || (prediction !== null && prediction.exception !== null)
    ? 'the prediction failed'
    : null
}

/** The example as the scorers see it; a value that is no object has no columns. */
const applyScorer = async (
  run: RowsOfRun,
  rowId: string,
  source: SourceRow,
  scorer: QueuedScorer,
  mayBeRepeat: boolean,
): Promise<Scored> =>
  scorer.score(
    { example: source.example ?? {}, output: source.row.output },
    {
      projectId: run.projectId,
      runId: run.runId,
      rowId,
      scoreId: run.idOf(source.row.id, scorer.name),
      traceId: run.runId,
      mayBeRepeat,
      ...run.user,
      signal: run.signal,
    },
  )

/** Calls of a run of the service, so that online evaluation leaves them out. */
const attributesOf = (run: RowsOfRun): JsonObject => ({ tallytree: { evaluation_run_id: run.runId } })

const rowStart = (run: RowsOfRun, id: string, { row, opName }: SourceRow, startedAt: Instant): CallWrite =>
  startOfCall({
    ...{ projectId: run.projectId, id, opName, traceId: run.runId, parentId: run.runId, startedAt },
    attributes: attributesOf(run),
    inputs: { self: run.evaluation, model: run.model, example: row.example },
  })

/**
 * A copy of the source's prediction with the same duration. Usage is left out: the model was not asked again, and no
 * total may count its tokens twice.
 */
const predictionWrites = (
  run: RowsOfRun,
  rowId: string,
  { row, prediction }: SourceRow,
  startedAt: Instant,
): readonly CallWrite[] => {
  const id = run.idOf(row.id, '', 'predict')
  const tookMs =
    prediction === null || prediction.ended_at === null
      ? (row.modelLatency ?? 0) * 1000
      : Date.parse(prediction.ended_at) - Date.parse(prediction.started_at)
  const endedAt = instantOf(new Date(Date.parse(startedAt) + Math.max(0, tookMs)))
  const { weave: _, status_counts: __, usage: ___, ...summary } = prediction?.summary ?? {}
  return [
    startOfCall({
      ...{ projectId: run.projectId, id, traceId: run.runId, parentId: rowId, startedAt },
      opName: prediction?.op_name ?? 'predict',
      attributes: attributesOf(run),
      inputs: prediction?.inputs ?? { self: run.model, example: row.example },
    }),
    endOfCall({
      ...{ projectId: run.projectId, id, endedAt, summary },
      output: prediction === null ? row.output : prediction.output,
      exception: prediction?.exception ?? null,
    }),
  ]
}

const scorerStart = (
  run: RowsOfRun,
  rowId: string,
  { row }: SourceRow,
  { name, ref }: QueuedScorer,
  startedAt: Instant,
): CallWrite =>
  startOfCall({
    projectId: run.projectId,
    id: run.idOf(row.id, name),
    opName: `${name}.score`,
    traceId: run.runId,
    parentId: rowId,
    startedAt,
    attributes: {
      ...attributesOf(run),
      weave: { score: 'true', scorer: ref, prediction_id: run.idOf(row.id, '', 'predict') },
    },
    inputs: { self: ref, output: row.output, example: row.example },
  })

import { instantOf } from '../../domain/codec/instant.js'
import type { EvaluationRunFinished, EvaluationRunRequested } from '../../domain/evaluation/events.js'
import { runName } from '../../domain/evaluation/run-name.js'
import { newSummary } from '../../domain/evaluation/summary.js'
import type { Cause } from '../../domain/event.js'
import { isJsonObject, type Json, type JsonObject } from '../../domain/json/json.js'
import { parseRef } from '../../domain/ref/ref.js'
import { uuidOfDigest } from '../../domain/uuid-of-digest.js'
import { CANCELED } from './canceled.js'
import { endOfCall, startOfCall } from './call-writes.js'
import { forEachAtMost } from './for-each-at-most.js'
import { RunFailed, type EvaluationPorts, type RecordedCall, type RunUser, type SourceRow } from './ports.js'
import { scoreRow, type RowOutcome, type RowsOfRun } from './rescored-row.js'
import { queuedScorer, type QueuedScorer } from './scorer-queue.js'

export interface RunJob {
  readonly request: EvaluationRunRequested
  readonly cause: Cause
  readonly signal: AbortSignal
}

/** Rows under way at a time; their scorers bound themselves further. */
const MAX_ROWS = 64

/**
 * Applies scorers to the predictions of a source run and records them as a new run. May be interrupted at any point and
 * called again: the ids of all calls follow from the run's, so that recorded work is found and kept.
 *
 * @throws RunFailed when the run cannot succeed, whatever is tried
 */
export const rescore =
  (ports: EvaluationPorts) =>
  async ({ request, cause, signal }: RunJob): Promise<EvaluationRunFinished> => {
    const { project_id: projectId, id: runId, scorer_refs, source_evaluation_run_id } = request
    const user: RunUser = { userId: request.wb_user_id, keyId: request.key_id }
    const source = await ports.call(projectId, source_evaluation_run_id ?? '')
    if (source === undefined) throw new RunFailed('the source evaluation run no longer exists')
    const scorers = await readyScorers(ports, scorer_refs, user)
    const startedAt = instantOf(ports.clock.now())
    const root = await ports.call(projectId, runId)
    if (root !== undefined && root.ended_at !== null) return finishedRun(request, root, root.ended_at)
    const begun =
      root ??
      (await beginRun(ports, request, cause, {
        source,
        evaluation: await rescoredEvaluation(ports, source, request, user, cause),
        startedAt,
      }))

    const idOf = (...names: readonly string[]) => uuidOfDigest(ports.sha256(JSON.stringify([runId, ...names])))
    const { self: evaluation = null, model = null } = begun.inputs
    const run: RowsOfRun = { projectId, runId, evaluation, model, user, cause, scorers, idOf, signal }
    const results = await scoreAll(ports, run, source_evaluation_run_id ?? '', user)

    const output = { ...results.summary, model_latency: results.modelLatency }
    const summary: JsonObject = { tallytree: { warnings: results.warnings } }
    const endedAt = instantOf(ports.clock.now())
    const summarizeId = idOf('', '', 'summarize')
    const summarize = {
      ...{ projectId, id: summarizeId, opName: 'Evaluation.summarize', traceId: runId },
      ...{ parentId: runId, attributes: { tallytree: { evaluation_run_id: runId } } },
    }
    const known = await ports.call(projectId, summarizeId)
    await ports.writeCalls(
      [
        ...(known === undefined
          ? [startOfCall({ ...summarize, startedAt: endedAt, inputs: { self: evaluation } })]
          : []),
        ...(known === undefined || known.ended_at === null
          ? [endOfCall({ projectId, id: summarizeId, endedAt, output })]
          : []),
        endOfCall({ projectId, id: runId, endedAt, output, summary }),
      ],
      cause,
    )
    return finishedRun(request, { ...begun, output, summary }, endedAt)
  }

/** What the run's ended call says of the run. */
export const finishedRun = (
  { project_id, id, kind, source_evaluation_run_id, wb_user_id }: EvaluationRunRequested,
  { inputs, started_at, display_name, output, summary, exception }: RecordedCall,
  endedAt: RecordedCall['started_at'],
): EvaluationRunFinished => {
  const { self = null, model = null } = inputs
  const { tallytree } = summary
  const warnings = isJsonObject(tallytree) ? tallytree['warnings'] : []
  return {
    ...{ project_id, id, kind, source_evaluation_run_id, wb_user_id, display_name, started_at },
    outcome: exception === null ? 'completed' : exception === CANCELED ? 'canceled' : 'failed',
    finished_at: endedAt,
    summary: isJsonObject(output) ? output : {},
    evaluation: typeof self === 'string' ? self : null,
    model: typeof model === 'string' ? model : null,
    error: exception,
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
  }
}

const readyScorers = async (
  ports: EvaluationPorts,
  refs: readonly string[],
  user: RunUser,
): Promise<readonly QueuedScorer[]> => {
  const scorers = new Map<string, QueuedScorer>()
  for (const ref of refs) {
    const scorer = await ports.scorer(ref, user)
    if (scorer === undefined)
      throw new RunFailed(`the scorer ${ref} no longer exists, or the user who asked may not read it any more`)
    if (scorers.has(scorer.name)) throw new RunFailed(`two scorers are named ${scorer.name}`)
    scorers.set(scorer.name, queuedScorer(scorer))
  }
  return [...scorers.values()]
}

/** The source's Evaluation object with these scorers, as a new version; what else it says is kept. */
const rescoredEvaluation = async (
  ports: EvaluationPorts,
  source: RecordedCall,
  { project_id, scorer_refs }: EvaluationRunRequested,
  user: RunUser,
  cause: Cause,
): Promise<Json> => {
  const self = source.inputs['self'] ?? null
  const ref = typeof self === 'string' ? parseRef(self) : undefined
  if (ref?.kind !== 'object' || typeof self !== 'string') return self
  const value = await ports.object(self, user)
  if (!isJsonObject(value ?? null)) throw new RunFailed(`the Evaluation object ${self} of the source run no longer exists`)
  return ports.publishObject(project_id, ref.objectId, { ...(value as JsonObject), scorers: scorer_refs }, cause)
}

const beginRun = async (
  ports: EvaluationPorts,
  { project_id: projectId, id, source_evaluation_run_id }: EvaluationRunRequested,
  cause: Cause,
  {
    source,
    evaluation,
    startedAt,
  }: { readonly source: RecordedCall; readonly evaluation: Json; readonly startedAt: RecordedCall['started_at'] },
): Promise<RecordedCall> => {
  const model = source.inputs['model'] ?? null
  await ports.writeCalls(
    [
      startOfCall({
        ...{ projectId, id, opName: source.op_name, displayName: runName(id, startedAt), startedAt },
        ...{ traceId: id, parentId: null, inputs: { self: evaluation, model } },
        attributes: {
          weave: { evaluation_run: 'true', evaluation, model, source_evaluation_run_id },
          tallytree: { evaluation_run_id: id },
        },
      }),
    ],
    cause,
  )
  const begun = await ports.call(projectId, id)
  if (begun === undefined) throw new RunFailed("the run's call was deleted")
  return begun
}

interface Results {
  readonly summary: JsonObject
  readonly modelLatency: JsonObject
  readonly warnings: readonly string[]
}

const scoreAll = async (
  ports: EvaluationPorts,
  run: RowsOfRun,
  sourceRunId: string,
  user: RunUser,
): Promise<Results> => {
  const summaries = new Map(run.scorers.map(({ name }) => [name, newSummary()]))
  const latency = newSummary()
  const failures = new Map<string, { count: number; first: string }>()
  let rows = 0
  const count = (what: string, reason: string) => {
    const failure = failures.get(what) ?? { count: 0, first: reason }
    failure.count += 1
    failures.set(what, failure)
  }
  const note = ({ scores, modelLatency, skipped, failures: failed }: RowOutcome) => {
    rows += 1
    if (modelLatency !== null) latency.add(modelLatency)
    if (skipped !== null) return count('', skipped)
    for (const [name, summary] of summaries) summary.add(scores[name] ?? null)
    for (const [name, reason] of Object.entries(failed)) count(name, reason)
  }
  const score = scoreRow(ports, run)
  await forEachAtMost(MAX_ROWS, rowsOf(ports, run, sourceRunId, user), async (row: SourceRow) => note(await score(row)))
  return {
    summary: Object.fromEntries([...summaries].map(([name, summary]) => [name, summary.result()])),
    modelLatency: { mean: meanOf(latency.result()) },
    warnings: [...failures].map(([name, { count, first }]) =>
      name === ''
        ? `${count} of ${rows} predictions were not scored: ${first}`
        : `scorer ${name} gave no score for ${count} of ${rows} rows: ${first}`,
    ),
  }
}

async function* rowsOf(
  ports: EvaluationPorts,
  { projectId, signal }: RowsOfRun,
  sourceRunId: string,
  user: RunUser,
): AsyncGenerator<SourceRow> {
  for await (const page of ports.sourceRows(projectId, sourceRunId, user, signal)) yield* page
}

const meanOf = (summary: Json): Json => (isJsonObject(summary) ? (summary['mean'] ?? null) : null)

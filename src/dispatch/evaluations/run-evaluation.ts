import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type {
  EvaluationRunFinished,
  EvaluationRunRequested,
} from '../../domain/evaluations/evaluation-run.js'
import { textOf, type EvaluationCall } from '../../domain/evaluations/run-calls.js'
import { runName } from '../../domain/evaluations/run-name.js'
import { newRunSummary } from '../../domain/evaluations/summary.js'
import type { Cause } from '../../kernel/event.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import type { Clock } from '../../kernel/ports/clock.js'
import { uuidOfDigest } from '../../kernel/uuid-of-digest.js'
import { endCall, startCall } from '../../application/calls/record.js'
import { forEachAtMost } from './for-each-at-most.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { recordCalls } from '../../application/evaluations/record.js'
import { RunFailed, type EvaluationServices } from '../../application/evaluations/services.js'
import type { RowToScore } from '../../application/evaluations/source-rows.js'
import type { RunUser } from '../../application/evaluations/user-reads.js'
import { prepareScorer } from './prepare-scorer.js'
import { scoreRow, type Predict, type RowOutcome, type RowsOfRun } from './score-row.js'
import { queuedScorer, type QueuedScorer } from './scorer-queue.js'

/** The exception of calls whose run was canceled, and the reason of its abort signal. */
export const CANCELED = 'The evaluation run was canceled.'

export interface RunJob {
  readonly request: EvaluationRunRequested
  readonly cause: Cause
  readonly signal: AbortSignal
}

/** What makes a kind of run: its rows, and where their predictions come from. */
export interface RunPlan<Row extends RowToScore> {
  readonly opName: string
  /** The Evaluation object of the run; asked for once, when the run begins. */
  readonly evaluation: () => Promise<Json>
  readonly model: Json
  readonly rows: AsyncIterable<readonly Row[]>
  readonly predict: (run: RowsOfRun) => Predict<Row>
}

/** Rows under way at a time; their scorers bound themselves further. */
const MAX_ROWS = 64
/** Calls of the rows under way: other writes queue behind those of a turn. */
const MAX_CALLS = 192
/** A row has a call of its own, one of its prediction, and one of each scorer. */
const rowsAtOnce = (scorers: number): number =>
  Math.min(MAX_ROWS, Math.max(1, Math.floor(MAX_CALLS / (2 + scorers))))

/**
 * Works on a run and records it as calls. May be interrupted at any point and called again: the ids of all calls follow
 * from the run's, so that recorded work is found and kept.
 *
 * @throws RunFailed when the run cannot succeed, whatever is tried
 */
export const runEvaluation = async <Row extends RowToScore>(
  services: EvaluationServices,
  { request, cause, signal }: RunJob,
  plan: RunPlan<Row>,
): Promise<EvaluationRunFinished> => {
  const { project_id: projectId, id: runId, scorer_refs } = request
  const user: RunUser = { userId: request.wb_user_id, keyId: request.key_id }
  const scorers = await readyScorers(services, scorer_refs, user)
  const root = await callNow(services, projectId, runId)
  if (root !== undefined && root.ended_at !== null) return finishedRun(request, root, root.ended_at)
  const begun = root ?? (await beginRun(services, request, cause, plan))

  const idOf = (...names: readonly string[]) =>
    uuidOfDigest(services.sha256(JSON.stringify([runId, ...names])))
  const { self: evaluation = null, model = null } = begun.inputs
  const run: RowsOfRun = {
    projectId,
    runId,
    evaluation,
    model,
    user,
    cause,
    scorers,
    idOf,
    signal,
    nextStart: increasingInstants(services.clock),
  }
  const results = await scoreAll(services, run, plan)
  signal.throwIfAborted()

  const output = results.summary
  const summary: JsonObject = { tallytree: { warnings: results.warnings } }
  const endedAt = instantOf(services.clock.now())
  const summarizeId = idOf('', '', 'summarize')
  const summarized = await callNow(services, projectId, summarizeId)
  await recordCalls(
    services,
    [
      startCall(summarizeId, {
        project_id: projectId,
        op_name: 'Evaluation.summarize',
        trace_id: runId,
        parent_id: runId,
        started_at: summarized?.started_at ?? endedAt,
        inputs: { self: evaluation },
        attributes: { tallytree: { evaluation_run_id: runId } },
      }),
      endCall({ project_id: projectId, id: summarizeId, ended_at: summarized?.ended_at ?? endedAt, output }),
      endCall({ project_id: projectId, id: runId, ended_at: endedAt, output, summary }),
    ],
    cause,
  )
  return finishedRun(request, { ...begun, output, summary, exception: null }, endedAt)
}

/** Builds the `EvaluationRunFinished` event from the ended root call of the run. */
export const finishedRun = (
  { project_id, id, kind, source_evaluation_run_id, wb_user_id }: EvaluationRunRequested,
  {
    inputs,
    started_at,
    display_name,
    output,
    summary,
    exception,
  }: Pick<EvaluationCall, 'inputs' | 'started_at' | 'display_name' | 'output' | 'summary' | 'exception'>,
  endedAt: EvaluationCall['started_at'],
): EvaluationRunFinished => {
  const { tallytree } = summary
  const warnings = isJsonObject(tallytree) ? tallytree['warnings'] : []
  return {
    project_id,
    id,
    kind,
    source_evaluation_run_id,
    wb_user_id,
    display_name,
    started_at,
    outcome: exception === null ? 'completed' : exception === CANCELED ? 'canceled' : 'failed',
    finished_at: endedAt,
    summary: isJsonObject(output) ? output : {},
    evaluation: textOf(inputs['self']),
    model: textOf(inputs['model']),
    error: exception,
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
  }
}

const readyScorers = async (
  services: EvaluationServices,
  refs: readonly string[],
  user: RunUser,
): Promise<readonly QueuedScorer[]> => {
  const scorers = new Map<string, QueuedScorer>()
  for (const ref of refs) {
    const scorer = await prepareScorer(services, ref, user)
    if (scorer === undefined)
      throw new RunFailed(
        `the scorer ${ref} no longer exists, or the user who asked may not read it any more`,
      )
    if (scorers.has(scorer.name)) throw new RunFailed(`two scorers are named ${scorer.name}`)
    scorers.set(scorer.name, queuedScorer(scorer))
  }
  return [...scorers.values()]
}

const beginRun = async <Row extends RowToScore>(
  services: EvaluationServices,
  { project_id: projectId, id, source_evaluation_run_id }: EvaluationRunRequested,
  cause: Cause,
  plan: RunPlan<Row>,
): Promise<EvaluationCall> => {
  const { opName, model } = plan
  const evaluation = await plan.evaluation()
  const startedAt = instantOf(services.clock.now())
  await recordCalls(
    services,
    [
      startCall(id, {
        project_id: projectId,
        op_name: opName,
        display_name: runName(id, startedAt),
        started_at: startedAt,
        trace_id: id,
        inputs: { self: evaluation, model },
        attributes: {
          weave: {
            evaluation_run: 'true',
            evaluation,
            model,
            ...(source_evaluation_run_id === null ? {} : { source_evaluation_run_id }),
          },
          tallytree: { evaluation_run_id: id },
        },
      }),
    ],
    cause,
  )
  const begun = await callNow(services, projectId, id)
  if (begun === undefined) throw new RunFailed("the run's call was deleted")
  return begun
}

interface Results {
  readonly summary: JsonObject
  readonly warnings: readonly string[]
}

const scoreAll = async <Row extends RowToScore>(
  services: EvaluationServices,
  run: RowsOfRun,
  plan: RunPlan<Row>,
): Promise<Results> => {
  const summary = newRunSummary(run.scorers.map(({ name }) => name))
  const failures = new Map<string, { count: number; first: string }>()
  let rows = 0
  const count = (what: string, reason: string) => {
    const failure = failures.get(what) ?? { count: 0, first: reason }
    failure.count += 1
    failures.set(what, failure)
  }
  const note = ({ skipped, failures: failed, ...row }: RowOutcome) => {
    rows += 1
    summary.add(row)
    if (skipped !== null) count('', skipped)
    for (const [name, reason] of Object.entries(failed)) count(name, reason)
  }
  const score = scoreRow(services, run, plan.predict(run))
  await forEachAtMost(rowsAtOnce(run.scorers.length), flattened(plan.rows), async (row) =>
    note(await score(row)),
  )
  return {
    summary: summary.result(),
    warnings: [...failures]
      .sort(byName)
      .map(([name, { count, first }]) =>
        name === ''
          ? `${count} of ${rows} predictions were not scored: ${first}`
          : `scorer ${name} gave no score for ${count} of ${rows} rows: ${first}`,
      ),
  }
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0

async function* flattened<A>(pages: AsyncIterable<readonly A[]>): AsyncGenerator<A> {
  for await (const page of pages) yield* page
}

/** The time now, but later than the last one by a microsecond at least: rows sort by it in the order of the source. */
const increasingInstants = (clock: Clock) => {
  let last = 0
  return (): Instant => {
    last = Math.max(clock.now().getTime() * 1000, last + 1)
    const seconds = new Date(Math.floor(last / 1000)).toISOString().slice(0, 19)
    return `${seconds}.${String(last % 1_000_000).padStart(6, '0')}Z` as Instant
  }
}

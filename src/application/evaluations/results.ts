import {
  newRowGroups,
  type RowGroup,
  type RowOrder,
  type RowSelection,
} from '../../domain/evaluations/grouped-rows.js'
import type { EvaluationRow } from '../../domain/evaluations/row.js'
import {
  exampleDigest,
  exampleOf,
  predictionOf,
  type RowCalls,
  rowOfCalls,
} from '../../domain/evaluations/rows-of-calls.js'
import { type EvaluationCall, roleOf, textOf, weaveAttributes } from '../../domain/evaluations/run-calls.js'
import { type FieldScores, newRunScores, type RunScores } from '../../domain/evaluations/run-scores.js'
import { printFieldPath } from '../../domain/query/field-path.js'
import { parseRef } from '../../domain/refs/ref.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import { inPages } from '../../kernel/pages.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { callsById } from '../../projections/calls/read.js'
import { resolveRefs, type Sources } from '../refs/resolve.js'
import { parsedCall } from './parsed-call.js'
import { bareRowsOf, type CostOf, rowCallsById, rowCallsOf } from './read-rows.js'

const VALUE_TYPES = { number: 'continuous', boolean: 'binary', text: 'text' } as const

/** A field of the scores as `eval_results/query` answers it. Its trials are the rows of the run. */
export const scorerStat = (
  { scorer, path, kind, numbers, mean, ...field }: FieldScores,
  trials: number,
): JsonObject => ({
  scorer_key: scorer,
  path: path.length === 0 ? null : printFieldPath(path),
  value_type: kind && VALUE_TYPES[kind],
  trial_count: trials,
  numeric_count: numbers.length,
  numeric_mean: mean,
  pass_known_count: field.booleanCount,
  pass_true_count: field.trueCount,
  pass_rate: field.trueFraction,
  pass_signal_coverage: field.booleanCount === 0 ? null : field.booleanCount / trials,
  none_count: field.noneCount,
  other_count: field.otherCount,
})

/** What the statistics of a run leave out. */
const leftOutOf = (runId: string, { scorers }: RunScores): readonly string[] =>
  scorers.flatMap(({ scorer, leftOut }) =>
    leftOut === 0
      ? []
      : [`Run ${runId}: ${leftOut} values of the scorer ${scorer} are in too many or too deep fields.`],
  )

/** Rows that are read at a time. */
const PAGE = { items: 200, weight: Infinity }

/** What is asked of runs. */
interface ResultsQuery {
  readonly include_rows: boolean
  readonly include_raw_data_rows: boolean
  readonly resolve_row_refs: boolean
  readonly include_predict_and_score_children: boolean
  readonly include_summary: boolean
  readonly require_intersection: boolean
  readonly summary_require_intersection: boolean | null
  readonly limit: number | null
  readonly offset: number
}

interface ResultsRead {
  readonly reader: ClickHouseReader
  readonly projectId: string
  readonly runIds: readonly string[]
  readonly position: Position
  readonly query: ResultsQuery
  readonly sha256: Sha256
  readonly costOf: CostOf
  readonly sources: Sources
}

/** The rows of runs by their example, page by page as JSON texts, and a summary of each run. */
export const evaluationResults = async (
  read: ResultsRead,
  orders: readonly RowOrder[],
  selection: RowSelection,
) => {
  const { reader, projectId, runIds, position, query } = read
  const runs = await runsAt(reader, projectId, runIds, position)
  const groups = await groupsOf(read, runs, query.include_rows ? orders : [], selection)
  const warnings = runIds
    .filter((runId) => !runs.some(({ id }) => id === runId))
    .map((runId) => `The evaluation run ${runId} was not found in this project.`)
  const inAll = query.summary_require_intersection ?? query.require_intersection
  const summary = query.include_summary ? await summaryOf(read, runs, groups.result(inAll), warnings) : null
  const rows = query.include_rows ? groups.result(query.require_intersection, true) : []
  const page = rows.slice(query.offset, query.offset + (query.limit ?? rows.length))
  return { pages: resultPages(read, page, warnings), total_rows: rows.length, summary, warnings }
}

/** The rows of all runs by their example. Only what rows are sorted and selected by needs more than their inputs. */
export const groupsOf = async (
  {
    sha256,
    reader,
    projectId,
    runIds,
    position,
  }: Pick<ResultsRead, 'sha256' | 'reader' | 'projectId' | 'runIds' | 'position'>,
  runs: readonly EvaluationCall[],
  orders: readonly RowOrder[],
  selection: RowSelection,
) => {
  const groups = newRowGroups(runIds.length, orders, selection)
  for (const { id: runId } of runs) {
    const run = runIds.indexOf(runId)
    if (orders.length === 0 && selection.filters.length === 0)
      for await (const rows of bareRowsOf(reader)(projectId, runId, position))
        for (const row of rows)
          groups.add(run, { id: row.id, exampleDigest: exampleDigest(sha256, exampleOf(row)) })
    else
      for await (const rows of rowCallsOf(reader)(projectId, runId, position))
        for (const row of rows.map(rowOfCalls(sha256))) groups.add(run, row, row)
  }
  return groups
}

const summaryOf = async (
  { reader, projectId, position, sha256, costOf }: ResultsRead,
  runs: readonly EvaluationCall[],
  groups: readonly RowGroup[],
  warnings: string[],
): Promise<JsonObject> => {
  const counted = new Set(groups.map(({ digest }) => digest))
  const ofRuns: JsonObject[] = []
  for (const run of runs) {
    const scores = newRunScores()
    const totals = { tokens: newTotal(), cost: newTotal() }
    for await (const page of rowCallsOf(reader)(projectId, run.id, position))
      for (const calls of page) {
        const row = rowOfCalls(sha256)(calls)
        if (!counted.has(row.exampleDigest)) continue
        scores.add(row.scores)
        totals.tokens.add(row.totalTokens)
        totals.cost.add(costOf(predictionOf(calls)))
      }
    const result = scores.result()
    warnings.push(...leftOutOf(run.id, result))
    ofRuns.push({
      evaluation_call_id: run.id,
      evaluation_ref: textOf(run.inputs['self']),
      model_ref: textOf(run.inputs['model']),
      display_name: run.display_name,
      trace_id: run.trace_id,
      started_at: run.started_at,
      trial_count: result.rows,
      predict_total_tokens: totals.tokens.result(),
      predict_total_cost: totals.cost.result(),
      scorer_stats: result.fields.map((field) => scorerStat(field, result.rows)),
    })
  }
  return { row_count: groups.length, evaluations: ofRuns }
}

/** The rows of the groups as JSON texts, page by page. */
async function* resultPages(
  read: ResultsRead,
  groups: readonly RowGroup[],
  warnings: string[],
): AsyncGenerator<string> {
  const { reader, projectId, runIds, position, query, sha256, costOf, sources } = read
  for (const some of inPages(groups, ({ rows: ids }) => ids.flat().length, { ...PAGE, weight: PAGE.items })) {
    const ids = some.flatMap(({ rows }) => rows.flat())
    const found = await rowCallsById(reader)(projectId, ids, position)
    const byId = new Map(found.map((calls) => [calls.row.id, { calls, row: rowOfCalls(sha256)(calls) }]))
    const first = some.map(({ rows }) => byId.get(rows.flat()[0]!)?.row)
    const raw = await rawRows(query, first, sources, warnings)
    yield some.map((group, at) => jsonText(resultRow(group, runIds, byId, raw[at]!, query, costOf))).join(',')
  }
}

interface FoundRow {
  readonly calls: RowCalls
  readonly row: EvaluationRow
}

/** The rows of all runs with one example, as they are answered. */
const resultRow = (
  { digest, rows }: RowGroup,
  runIds: readonly string[],
  byId: ReadonlyMap<string, FoundRow>,
  raw_data_row: Json,
  { include_predict_and_score_children: withChildren }: ResultsQuery,
  costOf: CostOf,
): JsonObject => ({
  row_digest: digest,
  raw_data_row,
  evaluations: runIds.flatMap((evaluation_call_id, run) => {
    const trials = rows[run]!.map((id) => byId.get(id)).filter((found) => found !== undefined)
    return trials.length === 0
      ? []
      : [{ evaluation_call_id, trials: trials.map((found) => trialOf(found, withChildren, costOf)) }]
  }),
})

const trialOf = ({ calls, row }: FoundRow, withChildren: boolean, costOf: CostOf): JsonObject => {
  const prediction = predictionOf(calls)
  return {
    predict_and_score_call_id: row.id,
    predict_call_id: withChildren ? row.predictionId : null,
    model_output: row.output,
    scores: row.scores,
    scorer_call_ids: withChildren ? row.scoreIds : {},
    model_latency_seconds: row.modelLatency,
    total_tokens: row.totalTokens,
    total_cost: costOf(prediction),
    genai_span_ref: (prediction && weaveAttributes(prediction)['genai_span_ref']) ?? null,
  }
}

/** The example of each group as it was asked for; null where it was not. */
const rawRows = async (
  { include_raw_data_rows, resolve_row_refs }: ResultsQuery,
  rows: readonly (EvaluationRow | undefined)[],
  sources: Sources,
  warnings: string[],
): Promise<readonly Json[]> => {
  if (!include_raw_data_rows) return rows.map(() => null)
  const examples = rows.map((row) => row?.example ?? null)
  if (!resolve_row_refs) return examples
  const refs = examples.map((example) => (typeof example === 'string' ? parseRef(example) : undefined))
  const values = await resolveRefs(sources, refs)
  return examples.map((example, at) => {
    if (refs[at] === undefined) return example
    const value = parseJson(values[at]!)
    if (value !== null) return value
    if (warnings.length < MAX_WARNINGS) warnings.push(`The reference ${example as string} does not resolve.`)
    return example
  })
}

const MAX_WARNINGS = 100

/** The runs that exist. */
export const runsAt = async (
  reader: ClickHouseReader,
  projectId: string,
  runIds: readonly string[],
  position: Position,
): Promise<readonly EvaluationCall[]> => {
  const calls = await callsById(reader)(projectId, runIds, position)
  return calls.map(parsedCall).filter((call) => roleOf(call) === 'run')
}

/** A sum that is null while nothing was added. */
const newTotal = () => {
  let total: number | null = null
  return {
    add: (value: number | null) => {
      if (value !== null) total = (total ?? 0) + value
    },
    result: () => total,
  }
}

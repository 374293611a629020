import { positionsAsOf } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { newRowGroups, type RowGroup, type RowOrder } from '../../domain/evaluations/grouped-rows.js'
import { exampleDigest, exampleOf, predictionOf, rowOfCalls } from '../../domain/evaluations/rows-of-calls.js'
import { roleOf, type EvaluationCall } from '../../domain/evaluations/run-calls.js'
import { newRunScores, type FieldScores, type RunScores } from '../../domain/evaluations/run-scores.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { inPages } from '../../kernel/pages.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { callsById } from '../../projections/calls/read.js'
import { inPath } from '../server/authorization.js'
import { streamed } from '../server/json-pages.js'
import type { Sources } from '../../application/refs/resolve.js'
import { sourcesFrom } from '../../application/calls/ref-sources.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { inV2 } from './found-calls.js'
import { parsedCall } from '../../application/evaluations/parsed-call.js'
import { bareRowsOf, rowCallsById, rowCallsOf } from '../../application/evaluations/read-rows.js'
import { rawRows, resultRow } from './result-rows.js'
import { ordersIn, results, resultsQuery, runIdsIn, type ResultsQuery } from './results-codecs.js'
import { rowCostsFrom, type CostOf } from '../../application/evaluations/row-costs.js'
import { textOf } from './runs.js'
import { printFieldPath } from '../../domain/query/field-path.js'

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

interface RunsAt {
  readonly reader: ClickHouseReader
  readonly projectId: string
  readonly runIds: readonly string[]
  readonly position: Position
}

interface ResultsRead extends RunsAt {
  readonly body: ResultsQuery
  readonly rowOf: ReturnType<typeof rowOfCalls>
  readonly costOf: CostOf
  readonly sources: Sources
  readonly warnings: string[]
}

/** The rows of all runs by their example. Only what rows are sorted by needs more than their inputs. */
const groupsOf = async (
  { sha256 }: Pick<Services, 'sha256'>,
  { reader, projectId, runIds, position }: RunsAt,
  runs: readonly EvaluationCall[],
  orders: readonly RowOrder[],
) => {
  const groups = newRowGroups(runIds.length, orders)
  for (const { id: runId } of runs) {
    const run = runIds.indexOf(runId)
    if (orders.length === 0)
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
  { reader, projectId, position, rowOf, costOf, warnings }: ResultsRead,
  runs: readonly EvaluationCall[],
  groups: readonly RowGroup[],
): Promise<JsonObject> => {
  const counted = new Set(groups.map(({ digest }) => digest))
  const ofRuns: JsonObject[] = []
  for (const run of runs) {
    const scores = newRunScores()
    const totals = { tokens: newTotal(), cost: newTotal() }
    for await (const page of rowCallsOf(reader)(projectId, run.id, position))
      for (const calls of page) {
        const row = rowOf(calls)
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
async function* resultPages(read: ResultsRead, groups: readonly RowGroup[]): AsyncGenerator<string> {
  const { reader, projectId, runIds, position, body, rowOf, costOf, sources, warnings } = read
  for (const some of inPages(groups, ({ rows: ids }) => ids.flat().length, { ...PAGE, weight: PAGE.items })) {
    const ids = some.flatMap(({ rows }) => rows.flat())
    const found = await rowCallsById(reader)(projectId, ids, position)
    const byId = new Map(found.map((calls) => [calls.row.id, { calls, row: rowOf(calls) }]))
    const first = some.map(({ rows }) => byId.get(rows.flat()[0]!)?.row)
    const raw = await rawRows(body, first, sources, warnings)
    yield some.map((group, at) => jsonText(resultRow(group, runIds, byId, raw[at]!, body, costOf))).join(',')
  }
}

/** `eval_results/query`: the rows of runs, joined by their example, and a summary of the scores of each run. */
export const resultsRoute = (services: Pick<Services, 'sha256' | 'access' | 'reading'>): AnyRoute => {
  const { reading } = services
  const costsOf = rowCostsFrom(reading)
  const rowOf = rowOfCalls(services.sha256)
  return readProject(services, {
    method: 'post',
    path: inV2('eval_results/query'),
    summary:
      'Read the rows of evaluation runs, joined by their example, and a summary of the scores of each run.',
    body: resultsQuery,
    response: results,
    project: inPath,
    handle: (request) => {
      const { body, project: projectId, reader } = request
      const runIds = runIdsIn(body)
      const orders = ordersIn(body, runIds)
      const costs = body.include_costs ? { list: null } : null
      return {
        waitFor: () => waitForPrices(reading, request, costs),
        read: async (position) => {
          const runs = await runsAt(reader, projectId, runIds, position)
          const at = { reader, projectId, runIds, position }
          const groups = await groupsOf(services, at, runs, body.include_rows ? orders : [])
          const costOf = costs === null ? () => null : await costsOf(reader, projectId, position)
          const sources = sourcesFrom(reader, positionsAsOf(services, request))
          const read = { ...at, body, rowOf, costOf, sources, warnings: notFoundOf(runIds, runs) }
          const inAll = body.summary_require_intersection ?? body.require_intersection
          const summary = body.include_summary ? await summaryOf(read, runs, groups.result(inAll)) : null
          const rows = body.include_rows ? groups.result(body.require_intersection) : []
          const page = rows.slice(body.offset, body.offset + (body.limit ?? rows.length))
          return streamed(resultPages(read, page), (pages) =>
            written(pages, rows.length, summary, read.warnings),
          )
        },
      }
    },
  })
}

async function* written(
  pages: AsyncIterable<string>,
  total_rows: number,
  summary: JsonObject | null,
  warnings: readonly string[],
): AsyncGenerator<string> {
  let separator = ''
  yield '{"rows":['
  for await (const text of pages) {
    yield separator + text
    separator = ','
  }
  yield `],${jsonText({ total_rows, summary, warnings: [...warnings] }).slice(1)}`
}

const notFoundOf = (runIds: readonly string[], runs: readonly EvaluationCall[]): string[] =>
  runIds
    .filter((runId) => !runs.some(({ id }) => id === runId))
    .map((runId) => `The evaluation run ${runId} was not found in this project.`)

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

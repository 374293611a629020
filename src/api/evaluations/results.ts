import type * as t from 'io-ts'
import { rowCostsFrom } from '../../application/evaluations/read-rows.js'
import { evaluationResults } from '../../application/evaluations/results.js'
import { invalidField } from '../../application/failure.js'
import { sourcesFrom } from '../../application/calls/ref-sources.js'
import type { Services } from '../../application/services.js'
import { isSortField, type RowOrder, type RowSelection } from '../../domain/evaluations/grouped-rows.js'
import { FILTER_OPS, type RowFilter } from '../../domain/evaluations/row-filter.js'
import { fieldName, fieldPath } from '../../domain/query/field-path.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, int64, json, number, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { inPath } from '../server/authorization.js'
import { streamed } from '../server/json-pages.js'
import { positionsAsOf } from '../server/read-conditions.js'
import { readProject } from '../server/route-kinds.js'
import type { AnyRoute } from '../server/route.js'
import { inV2 } from './call-collections.js'
import { requireFew } from './codecs.js'

const off = withDefault(boolean, false, true)
const on = withDefault(boolean, true, true)

const sortBy = open('EvaluationResultSortBy', {
  required: { field: fieldName, direction: oneOf('asc', 'desc') },
  optional: {
    evaluation_call_id: nullable(id),
    mode: withDefault(oneOf('value', 'difference'), 'value' as const, true),
  },
})

const resultFilter = closed('EvaluationResultFilter', {
  says:
    'One trial of one run, or of the run `evaluation_call_id`, is enough. `failed`: the scorer gave no score, or without a ' +
    'scorer, the row failed or any scorer did. `worse_than`: less than in the run whose id is `value`, in the field or, ' +
    'without a scorer, in any number or boolean; more, if `lower_is_better`.',
  required: { op: oneOf(...FILTER_OPS) },
  optional: {
    scorer: nullable(string),
    /** A field path within the score, as `path` of `scorer_stats`. */
    path: nullable(fieldName),
    value: nullable(json),
    evaluation_call_id: nullable(id),
    lower_is_better: off,
  },
})

/** Which rows are answered, and in which order. */
export const rowSelection = {
  sort_by: nullable(arrayOf(sortBy)),
  /** Of rows; the summary is of all. */
  filters: nullable(arrayOf(resultFilter)),
  filter_logic_operator: nullable(oneOf('and', 'or')),
}

const resultsQuery = open('EvaluationResultsQuery', {
  says: 'At least one of evaluation_call_ids and evaluation_run_ids is required.',
  optional: {
    evaluation_call_ids: nullable(arrayOf(id)),
    evaluation_run_ids: nullable(arrayOf(id)),
    limit: nullable(wholeNumber),
    offset: withDefault(wholeNumber, 0, true),
    require_intersection: off,
    include_rows: on,
    include_raw_data_rows: off,
    resolve_row_refs: off,
    include_predict_and_score_children: on,
    include_summary: off,
    summary_require_intersection: nullable(boolean),
    include_costs: off,
    ...rowSelection,
  },
})
type ResultsQuery = t.TypeOf<typeof resultsQuery>
type Selecting = Pick<ResultsQuery, keyof typeof rowSelection>

const trial = open('EvaluationTrial', {
  required: {
    predict_and_score_call_id: string,
    predict_call_id: nullable(string),
    model_output: json,
    scores: recordOf(json),
    scorer_call_ids: recordOf(string),
    model_latency_seconds: nullable(number),
    total_tokens: nullable(number),
    total_cost: nullable(number),
  },
  optional: { genai_span_ref: nullable(json) },
})

const row = open('EvaluationResultRow', {
  required: {
    row_digest: string,
    raw_data_row: json,
    evaluations: arrayOf(
      open('EvaluationTrials', { required: { evaluation_call_id: string, trials: arrayOf(trial) } }),
    ),
  },
})

const scorerStat = open('EvaluationScorerStat', {
  required: { scorer_key: string, trial_count: int64 },
  optional: {
    path: nullable(string),
    value_type: nullable(oneOf('binary', 'continuous', 'text')),
    numeric_count: nullable(int64),
    numeric_mean: nullable(number),
    pass_known_count: nullable(int64),
    pass_true_count: nullable(int64),
    pass_rate: nullable(number),
    pass_signal_coverage: nullable(number),
    none_count: nullable(int64),
    other_count: nullable(int64),
  },
})

const summary = open('EvaluationResultsSummary', {
  required: {
    row_count: int64,
    evaluations: arrayOf(
      open('EvaluationResultsOfRun', {
        required: { evaluation_call_id: string, trial_count: int64, scorer_stats: arrayOf(scorerStat) },
        optional: {
          evaluation_ref: nullable(string),
          model_ref: nullable(string),
          display_name: nullable(string),
          trace_id: nullable(string),
          started_at: nullable(instant),
          predict_total_tokens: nullable(number),
          predict_total_cost: nullable(number),
        },
      }),
    ),
  },
})

const results = open('EvaluationResults', {
  required: { rows: arrayOf(row), total_rows: int64, summary: nullable(summary), warnings: arrayOf(string) },
})

const runIdsIn = ({ evaluation_call_ids, evaluation_run_ids }: ResultsQuery): readonly string[] => {
  const ids = [...new Set([...(evaluation_call_ids ?? []), ...(evaluation_run_ids ?? [])])]
  if (ids.length === 0)
    throw invalidField(
      ['evaluation_run_ids'],
      'missing',
      'Name at least one run in evaluation_run_ids or evaluation_call_ids',
    )
  requireFew(ids, ['body', 'evaluation_run_ids'])
  return ids
}

export const ordersIn = (
  { sort_by }: Pick<Selecting, 'sort_by'>,
  runIds: readonly string[],
): readonly RowOrder[] =>
  (sort_by ?? []).map(({ field, direction, evaluation_call_id, mode }, at): RowOrder => {
    const rule = 'Value error, the field should begin with scores., inputs. or outputs.'
    if (!isSortField(field)) throw invalidField(['sort_by', at, 'field'], 'value_error', rule)
    const run =
      evaluation_call_id === null
        ? null
        : placeOf(evaluation_call_id, runIds, ['sort_by', at, 'evaluation_call_id'])
    return { field, direction, run, mode }
  })

const placeOf = (runId: Json, runIds: readonly string[], field: readonly (string | number)[]): number => {
  const place = runIds.indexOf(runId as string)
  const rule = 'Value error, the evaluation should be one of those asked for'
  if (place === -1) throw invalidField(field, 'value_error', rule)
  return place
}

const MAX_FILTERS = 20

export const selectionIn = (
  { filters, filter_logic_operator }: Omit<Selecting, 'sort_by'>,
  runIds: readonly string[],
): RowSelection => {
  if ((filters?.length ?? 0) > MAX_FILTERS)
    throw invalidField(['filters'], 'too_long', `List should have at most ${MAX_FILTERS} items`)
  return {
    isAnyEnough: filter_logic_operator === 'or',
    filters: (filters ?? []).map(
      ({ scorer, path, op, value, evaluation_call_id, lower_is_better }, at): RowFilter => {
        const field = (name: string) => ['filters', at, name]
        if (scorer === null && op !== 'failed' && op !== 'worse_than')
          throw invalidField(field('scorer'), 'missing', `Name the scorer of a filter with ${op}`)
        if (scorer === null && path !== null)
          throw invalidField(field('path'), 'value_error', 'Value error, a path needs a scorer')
        return {
          ...{ scorer, path: path === null ? [] : fieldPath(path), op, value },
          than: op === 'worse_than' ? placeOf(value, runIds, field('value')) : null,
          run:
            evaluation_call_id === null
              ? null
              : placeOf(evaluation_call_id, runIds, field('evaluation_call_id')),
          lowerIsBetter: lower_is_better,
        }
      },
    ),
  }
}

const NO_COSTS = { costOf: () => null }

/** `eval_results/query`: the rows of runs, joined by their example, and a summary of the scores of each run. */
export const resultsRoute = (services: Pick<Services, 'sha256' | 'access' | 'reading'>): AnyRoute => {
  const { reading, sha256 } = services
  const costsOf = rowCostsFrom(reading)
  return readProject(services, {
    method: 'post',
    path: inV2('eval_results/query'),
    summary:
      'Read the rows of evaluation runs, joined by their example, and a summary of the scores of each run.',
    body: resultsQuery,
    response: results,
    project: inPath,
    handle: (request) => {
      const { body: query, project: projectId, reader } = request
      const runIds = runIdsIn(query)
      const orders = ordersIn(query, runIds)
      const selection = selectionIn(query, runIds)
      const costs = query.include_costs ? { list: null } : null
      return {
        waitFor: () => waitForPrices(reading, request, costs),
        read: async (position) => {
          const { costOf } = costs === null ? NO_COSTS : await costsOf(reader, projectId, position)
          const sources = sourcesFrom(reader, positionsAsOf(services, request))
          const read = { reader, projectId, runIds, position, query, sha256, costOf, sources }
          const { pages, ...rest } = await evaluationResults(read, orders, selection)
          return streamed(pages, (texts) => written(texts, rest))
        },
      }
    },
  })
}

async function* written(pages: AsyncIterable<string>, rest: JsonObject): AsyncGenerator<string> {
  let separator = ''
  yield '{"rows":['
  for await (const text of pages) {
    yield separator + text
    separator = ','
  }
  yield `],${jsonText(rest).slice(1)}`
}

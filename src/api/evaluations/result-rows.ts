import type { RowGroup } from '../../domain/evaluations/grouped-rows.js'
import type { EvaluationRow } from '../../domain/evaluations/row.js'
import { predictionOf, type RowCalls } from '../../domain/evaluations/rows-of-calls.js'
import { weaveAttributes } from '../../domain/evaluations/run-calls.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { parseRef } from '../../domain/refs/ref.js'
import { resolveRefs } from '../../application/refs/resolve.js'
import type { Sources } from '../../application/refs/resolve.js'
import type { ResultsQuery } from './results-codecs.js'
import type { CostOf } from '../../application/evaluations/row-costs.js'

export interface FoundRow {
  readonly calls: RowCalls
  readonly row: EvaluationRow
}

/** The rows of all runs with one example, as they are answered. */
export const resultRow = (
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
export const rawRows = async (
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

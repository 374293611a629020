import { compareRuns as comparing, type Comparison } from '../../../../src/domain/evaluations/comparison.js'
import type { EvaluationCall } from '../../../../src/domain/evaluations/run-calls.js'
import { newRunSummary } from '../../../../src/domain/evaluations/summary.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import type { ScoredRow } from '../../../../src/domain/evaluations/row.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'

export const at = (seconds: number): Instant =>
  `2026-01-01T00:00:${String(seconds).padStart(2, '0')}.000000Z` as Instant

export const anEvaluationCall = (more: Partial<EvaluationCall> = {}): EvaluationCall => ({
  id: 'call',
  parent_id: null,
  trace_id: 'trace',
  op_name: 'op',
  display_name: null,
  started_at: at(0),
  ended_at: at(1),
  exception: null,
  wb_user_id: null,
  attributes: {},
  inputs: {},
  output: null,
  summary: {},
  ...more,
})

/** The scores of a row with one scorer, `s`. */
export const scoredRow = (score: Json): JsonObject => ({ s: score })

/** The summary of rows with these scores. */
export const summaryOf = (rows: readonly JsonObject[]): JsonObject => {
  const summary = newRunSummary()
  for (const scores of rows) summary.add({ scores, modelLatency: null })
  return summary.result()
}

export const aScoredRow = (more: Partial<ScoredRow> = {}): ScoredRow => ({
  id: 'row',
  exampleDigest: 'digest',
  scores: {},
  modelLatency: null,
  cost: null,
  ...more,
})

/** All steps of the comparison at once. */
export const compareRuns = (...asked: Parameters<typeof comparing>): Comparison => {
  const steps = comparing(...asked)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

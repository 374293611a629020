import type { EvaluationCall } from '../../../../src/domain/evaluations/run-calls.js'
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

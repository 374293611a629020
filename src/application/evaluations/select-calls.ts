import * as E from 'fp-ts/lib/Either.js'
import type { RuleFilter } from '../../domain/evaluations/rules/rule.js'
import { isOfEvaluation } from '../../domain/evaluations/rules/sampling.js'
import { RUN_OP, type EvaluationCall } from '../../domain/evaluations/run-calls.js'
import { InvalidQuery } from '../../domain/query/errors.js'
import { query } from '../../domain/query/query.js'
import type { Operation } from '../../domain/query/expression.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { callIds } from '../../projections/calls/pages.js'
import { callsById } from '../../projections/calls/read.js'
import { NO_FILTER, type CallsFilter } from '../../projections/calls/filter.js'
import { callPages, parsedCall } from './parsed-call.js'
import type { EvaluationServices } from './services.js'
import { READABLE_WITHIN_MS } from './user-reads.js'

type CallReads = Pick<EvaluationServices, 'clickHouse' | 'readModels'>

const idsOf = (
  { clickHouse, readModels }: CallReads,
  projectId: string,
  filter: Partial<CallsFilter>,
  operation: Operation | null = null,
) =>
  callIds(clickHouse.reader)({
    projectId,
    filter: { ...NO_FILTER, ...filter },
    position: readModels.reached(),
    sortBy: [],
    limit: null,
    offset: null,
    operation,
  })

/**
 * Those of the calls that a filter selects, as `/calls/query` does.
 *
 * @throws if the read models do not reach the position in time
 */
export const selectCalls = async (
  services: CallReads,
  projectId: string,
  { op_names, trace_roots_only, query: condition }: RuleFilter,
  call_ids: readonly string[],
  position: Position,
): Promise<readonly string[]> => {
  if (!(await services.readModels.waitFor(position, READABLE_WITHIN_MS)))
    throw new Error('the read models did not reach the end of the calls in time')
  const decoded = condition === null ? null : query.decode(condition)
  if (decoded !== null && E.isLeft(decoded)) return []
  const filter = { op_names, trace_roots_only, call_ids }
  try {
    return (await idsOf(services, projectId, filter, decoded && decoded.right.$expr)).map(({ id }) => id)
  } catch (error) {
    // A rule of an older release may have a condition that is no longer accepted. It never selected a call.
    if (error instanceof InvalidQuery) return []
    throw error
  }
}

/** Calls in pages, for bounded memory. */
export async function* loadCalls(
  { clickHouse, readModels }: CallReads,
  projectId: string,
  call_ids: readonly string[],
): AsyncGenerator<readonly EvaluationCall[]> {
  if (call_ids.length === 0) return
  const filter = { ...NO_FILTER, call_ids }
  yield* callPages(clickHouse.reader, { projectId, filter, position: readModels.reached(), sortBy: [] })
}

/** Those of the traces that hold an evaluation run, or begin with a call of an evaluation or a rule. */
export const tracesOfEvaluations = async (
  services: CallReads,
  projectId: string,
  traceIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (traceIds.length === 0) return new Set()
  const trace_ids = [...new Set(traceIds)]
  const runs = await idsOf(services, projectId, { trace_ids, op_names: [RUN_OP] })
  const ids = [...new Set([...trace_ids, ...runs.map(({ id }) => id)])]
  const position = services.readModels.reached()
  const calls = await callsById(services.clickHouse.reader)(projectId, ids, position, ['attributes'])
  const ofEvaluations = calls.map(parsedCall).filter(isOfEvaluation)
  return new Set(ofEvaluations.map(({ trace_id }) => trace_id))
}

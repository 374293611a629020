import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Operation } from '../../domain/query/expression.js'
import { countCalls } from '../../projections/calls/count.js'
import { NO_FILTER } from '../../projections/calls/filter.js'

const opContains = (substr: string): Operation => ({
  $contains: { input: { $getField: 'op_name' }, substr: { $literal: substr }, case_insensitive: false },
})

const IS_ROW: Operation = {
  $or: [opContains('Evaluation.predict_and_score'), opContains('Evaluation.predictAndScore')],
}

const HAS_ENDED: Operation = { $not: [{ $eq: [{ $getField: 'ended_at' }, { $literal: null }] }] }

/** Counts the rows of an evaluation run so far. */
export const countRows = async (
  reader: ClickHouseReader,
  projectId: string,
  runId: string,
  position: Position,
  which: 'all' | 'ended' = 'all',
): Promise<number> => {
  const filter = { ...NO_FILTER, parent_ids: [runId] }
  const operation = which === 'all' ? IS_ROW : { $and: [IS_ROW, HAS_ENDED] }
  return (await countCalls(reader)({ projectId, filter, operation, position }, null)).count
}

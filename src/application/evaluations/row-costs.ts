import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { cachedBooks } from '../../projections/prices/cached-books.js'
import type { Reading } from '../reading/reading.js'
import { callCosts, totalCostOf } from '../calls/call-costs.js'

/** The cost of a prediction in US dollars; null where it has no usage, or none whose cost is known. */
export type CostOf = (prediction: EvaluationCall | undefined) => number | null

/** Costs by the prices of a project at a position. */
export const rowCostsFrom = ({ generation }: Pick<Reading, 'generation'>) => {
  const books = cachedBooks(generation)
  return async (reader: ClickHouseReader, projectId: string, position: Position): Promise<CostOf> => {
    const book = await books(reader, { projectId, list: null, position })
    return (prediction) => {
      if (prediction === undefined) return null
      const { started_at, output, summary } = prediction
      return totalCostOf(callCosts(book, { project_id: projectId, started_at }, summary, { output }))
    }
  }
}

import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { cachedBooks } from '../../projections/prices/cached-books.js'
import type { Reading } from '../reading/reading.js'
import { callCosts } from '../calls/call-costs.js'

/** The cost of a prediction in US dollars; null where it has no usage. */
export type CostOf = (prediction: EvaluationCall | undefined) => number | null

/** Costs by the prices of a project at a position. */
export const rowCostsFrom = ({ generation }: Pick<Reading, 'generation'>) => {
  const books = cachedBooks(generation)
  return async (reader: ClickHouseReader, projectId: string, position: Position): Promise<CostOf> => {
    const book = await books(reader, { projectId, list: null, position })
    return (prediction) => {
      if (prediction === undefined) return null
      const { started_at, summary } = prediction
      const costs = callCosts(book, { project_id: projectId, started_at }, summary)
      return costs === undefined
        ? null
        : Object.values(costs).reduce<number>((sum, one) => sum + totalOf(one), 0)
    }
  }
}

const totalOf = (costs: Json): number =>
  Object.entries(costs as JsonObject).reduce(
    (sum, [name, value]) => (name.endsWith('_total_cost') ? sum + (value as number) : sum),
    0,
  )

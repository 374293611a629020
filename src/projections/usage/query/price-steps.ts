import { microseconds } from '../../../kernel/codec/instant.js'
import type { SqlParameters } from '../../../kernel/ports/clickhouse.js'
import type { PriceBook } from '../../prices/book.js'
import { COSTS } from '../columns.js'

/** The prices of a book as a table for SQL: a price holds for calls of its model from `since` on. */
export interface PriceSteps {
  /** A subquery with the columns model, since (microseconds) and four costs of a token in units of 10^-12. */
  readonly sql: string
  /** Prices do not change between two of these times, in microseconds, ascending. */
  readonly changes: readonly bigint[]
  readonly parameters: SqlParameters
}

/** Before every call. */
export const ALWAYS = -(2n ** 62n)

export const priceSteps = ({ timelines }: PriceBook): PriceSteps => {
  const models: string[] = []
  const since: bigint[] = []
  const costs: string[][] = COSTS.map(() => [])
  for (const [model, { first, steps }] of timelines)
    for (const { from, price } of [{ from: null, price: first }, ...steps]) {
      models.push(model)
      since.push(from === null ? ALWAYS : microseconds(from))
      price.costs.forEach((cost, kind) => costs[kind]!.push(String(cost)))
    }
  return {
    sql: `(SELECT step.1 AS model, step.2 AS since, ${COSTS.map((name, kind) => `toInt256(step.${kind + 3}) AS ${name}`).join(', ')},
      1 AS is_priced
      FROM (SELECT arrayJoin(arrayZip({step_models:Array(String)}, {step_since:Array(Int64)},
        ${COSTS.map((name) => `{step_${name}:Array(String)}`).join(', ')})) AS step))`,
    changes: [...new Set([ALWAYS, ...since])].sort((a, b) => (a < b ? -1 : Number(a > b))),
    parameters: {
      step_models: models,
      step_since: since,
      ...Object.fromEntries(COSTS.map((name, kind) => [`step_${name}`, costs[kind]!])),
    },
  }
}

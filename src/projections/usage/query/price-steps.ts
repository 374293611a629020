import { microseconds } from '../../../kernel/codec/instant.js'
import type { PriceBook } from '../../prices/book.js'
import { joined, raw, sql, typed, type Sql } from '../../sql.js'
import { CHARGED } from '../columns.js'

/** The prices of a book as a table for SQL: a price holds for calls of its model from `since` on. */
export interface PriceSteps {
  /** A subquery with the columns model, since (microseconds) and the rates of a token in units of 10^-12. */
  readonly steps: Sql
  /** Prices do not change between two of these times, in microseconds, ascending. */
  readonly changes: readonly bigint[]
}

/** The columns of rates, in the order of `CHARGED`. */
export const RATES = CHARGED.map((_, kind) => `rate_${kind}`)

/** Before every call. */
export const ALWAYS = -(2n ** 62n)

export const priceSteps = ({ timelines }: PriceBook): PriceSteps => {
  const models: string[] = []
  const since: bigint[] = []
  const rates: string[][] = CHARGED.map(() => [])
  const understood: string[] = []
  for (const [model, { first, steps }] of timelines)
    for (const { from, price } of [{ from: null, price: first }, ...steps]) {
      models.push(model)
      since.push(from === null ? ALWAYS : microseconds(from))
      understood.push(price.isUnderstood ? '1' : '0')
      price.costs.forEach((rate, kind) => rates[kind]!.push(String(rate)))
    }
  const columns = RATES.map((name, kind) => `toInt256(step.${kind + 3}) AS ${name}`).join(', ')
  const lists = joined([...rates, understood].map((list) => sql`${list}`))
  return {
    steps: sql`(SELECT step.1 AS model, step.2 AS since, ${raw(columns)},
      toUInt8(step.${raw(String(RATES.length + 3))}) AS is_understood, 1 AS is_priced
      FROM (SELECT arrayJoin(arrayZip(${models}, ${typed('Array(Int64)', since)}, ${lists})) AS step))`,
    changes: [...new Set([ALWAYS, ...since])].sort((a, b) => (a < b ? -1 : Number(a > b))),
  }
}

import { columnValue, type Derived } from '../expression/fields.js'
import type { Sql } from '../sql.js'
import { isCost, MEASURES, measureName } from '../usage/columns.js'

/**
 * A subquery with the usage of calls and their descendants, to be joined: the columns `call_id` and those of `USAGE_FIELDS`, for
 * calls in a range of the key; 0 for calls that it does not have.
 */
export type UsageJoin = (range: readonly Sql[]) => Sql

/** Inclusive usage as `usage.…`, and the column of each. Costs are in units of 10^-12. */
const USAGE_FIELDS: Readonly<Record<string, { readonly column: string; readonly scale: number }>> =
  Object.fromEntries(
    MEASURES.filter((measure) => measure !== 'calls').map((measure) => [
      `usage.${measureName(measure)}`,
      { column: measure, scale: isCost(measure) ? 1e12 : 1 },
    ]),
  )

export const isUsageField = (name: string): boolean => Object.hasOwn(USAGE_FIELDS, name)

export const isUsageCost = (name: string): boolean => isUsageField(name) && USAGE_FIELDS[name]!.scale > 1

/** @param onUse is called once a name is used */
export const usageField = (onUse: () => void): Derived => ({
  kind: 'derived',
  value: (name) => {
    if (!isUsageField(name)) return undefined
    onUse()
    const { column, scale } = USAGE_FIELDS[name]!
    return columnValue({ kind: 'number', sql: `inclusive.${column} / ${scale}` })
  },
})

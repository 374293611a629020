import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { askedFields } from '../../domain/query/asked-fields.js'
import type { Operation } from '../../domain/query/expression.js'
import { isUsageCost, isUsageField } from '../../projections/calls/usage-fields.js'
import type { CallSelection } from '../../projections/calls/select.js'
import type { OrderBy } from '../../projections/expression/order.js'
import type { Books } from '../../projections/prices/cached-books.js'
import { readTotals } from '../../projections/usage/query/open-traces.js'
import { usageOfCalls } from '../../projections/usage/query/groups-sql.js'
import { invalidField } from '../../application/failure.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'

/** Whether a filter or an order uses inclusive usage, `usage.…`, and whether that includes costs. */
export interface UsedUsage {
  readonly isUsed: boolean
  readonly hasCosts: boolean
}

export const usedUsage = (operation: Operation | null, sortBy: readonly OrderBy[]): UsedUsage => {
  const fields = [...(operation === null ? [] : askedFields(operation)), ...sortBy.map(({ field }) => field)]
  return { isUsed: fields.some(isUsageField), hasCosts: fields.some(isUsageCost) }
}

const MAX_LIMIT = 10_000

/** What is read with usage, or filtered or sorted by it, is read at once, and its usage is in memory. */
export const requireLimit = (
  limit: number | null,
  what = 'calls with usage, or filtered or sorted by it,',
  most = MAX_LIMIT,
): void => {
  if (limit !== null && limit <= most) return
  const rule = `Value error, ${what} need a limit of at most ${most}`
  throw invalidField(['limit'], 'value_error', rule)
}

/**
 * Reads a selection that uses inclusive usage.
 *
 * @throws Failure
 */
export const readWithUsage = async <A>(
  reader: ClickHouseReader,
  books: Books,
  selection: CallSelection,
  { hasCosts }: UsedUsage,
  read: (selection: CallSelection) => Promise<A>,
): Promise<A> => {
  const { projectId, position } = selection
  const prices = hasCosts ? await books(reader, { projectId, list: null, position }) : null
  return readTotals(reader, { ...selection, kind: 'inclusive', prices }, (open) =>
    read({ ...selection, usage: usageOfCalls(selection, open) }),
  ).catch(refuseTooLarge)
}

import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { askedFields, USED_MODEL_FIELD } from '../../domain/query/asked-fields.js'
import type { Operation } from '../../domain/query/expression.js'
import { isUsageCost, isUsageField } from '../../projections/calls/usage-fields.js'
import type { CallSelection } from '../../projections/calls/select.js'
import type { OrderBy } from '../../projections/expression/order.js'
import type { Books } from '../../projections/prices/cached-books.js'
import { readTotals } from '../../projections/usage/query/open-traces.js'
import { readUsedModels } from '../../projections/usage/query/used-models.js'
import { usageOfCalls } from '../../projections/usage/query/groups-sql.js'
import { invalidField } from '../../application/failure.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'

/** Whether a filter or an order uses inclusive usage, `usage.…`, with fields or only as used models, and whether that includes costs. */
export interface UsedUsage {
  readonly isUsed: boolean
  readonly hasFields: boolean
  readonly hasCosts: boolean
}

export const usedUsage = (operation: Operation | null, sortBy: readonly OrderBy[]): UsedUsage => {
  const fields = [...(operation === null ? [] : askedFields(operation)), ...sortBy.map(({ field }) => field)]
  const hasFields = fields.some(isUsageField)
  return {
    isUsed: hasFields || fields.includes(USED_MODEL_FIELD),
    hasFields,
    hasCosts: fields.some(isUsageCost),
  }
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
  { hasFields, hasCosts }: UsedUsage,
  read: (selection: CallSelection) => Promise<A>,
): Promise<A> => {
  const { projectId, position } = selection
  const prices = hasCosts ? await books(reader, { projectId, list: null, position }) : null
  return readUsedModels(reader, selection, (selected) =>
    hasFields
      ? readTotals(reader, { ...selected, kind: 'inclusive', prices }, (open) =>
          read({ ...selected, usage: usageOfCalls(selected, open) }),
        )
      : read(selected),
  ).catch(refuseTooLarge)
}

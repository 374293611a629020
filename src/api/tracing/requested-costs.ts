import type { IncomingHttpHeaders } from 'node:http'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { priceListExists } from '../../projections/prices/queries.js'
import { PRICE_LISTS_SCOPE } from '../admin/prices.js'
import { invalidField } from '../failure.js'
import type { Reading } from '../reading.js'

/** The price list to use, null for the project's prices and the default list. Null if costs were not requested. */
export type RequestedCosts = { readonly list: string | null } | null

interface Reads {
  readonly reading: Reading
  readonly reader: ClickHouseReader
}

/** Waits for the project and, if costs are requested, for the price lists. Refuses an unknown list. */
export const waitForPrices = async (
  { reading, reader }: Reads,
  projectId: string,
  costs: RequestedCosts,
  headers: IncomingHttpHeaders,
): Promise<Position> => {
  const position = await reading.waitForAsOf(projectId, headers)
  if (costs === null) return position
  const withPrices = await reading.waitForAsOf(PRICE_LISTS_SCOPE, headers)
  if (costs.list !== null && !(await priceListExists(reader, costs.list, withPrices)))
    throw invalidField(['price_list'], 'value_error', 'Value error, unknown price list')
  return withPrices
}

/** A price list without a request for costs. */
export const requiresCosts = (asking: string) =>
  invalidField(
    ['price_list'],
    'value_error',
    `Value error, a price list requires costs: request them with ${asking}`,
  )

import type { IncomingHttpHeaders } from 'node:http'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { priceListExists } from '../../projections/prices/queries.js'
import { OF_PRICE_LISTS } from '../admin/prices.js'
import { invalidField } from '../failure.js'
import type { Reading } from '../reading.js'

/** The price list to use, null for the project's prices and the default list. Null if costs were not requested. */
export type CostsAsked = { readonly list: string | null } | null

interface Reads {
  readonly reading: Reading
  readonly reader: ClickHouseReader
}

/** Waits for the project and, if costs are requested, for the price lists. Refuses an unknown list. */
export const readyWithPrices = async (
  { reading, reader }: Reads,
  projectId: string,
  costs: CostsAsked,
  headers: IncomingHttpHeaders,
): Promise<Position> => {
  const position = await reading.waitForAsOf(projectId, headers)
  if (costs === null) return position
  const withPrices = await reading.waitForAsOf(OF_PRICE_LISTS, headers)
  if (costs.list !== null && !(await priceListExists(reader, costs.list, withPrices)))
    throw invalidField(['price_list'], 'value_error', 'Value error, unknown price list')
  return withPrices
}

/** A price list without a request for costs. */
export const needsCosts = (asking: string) =>
  invalidField(
    ['price_list'],
    'value_error',
    `Value error, a price list requires costs: request them with ${asking}`,
  )

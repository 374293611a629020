import { readConditionsIn } from '../server/read-conditions.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { priceListExists } from '../../projections/prices/queries.js'
import { cachedBooks } from '../../projections/prices/cached-books.js'
import type { PriceBook } from '../../projections/prices/book.js'
import { PRICE_LISTS_SCOPE } from '../prices/price-list.js'
import { invalidField } from '../../application/failure.js'
import type { Reading } from '../../application/reading/reading.js'
import type { ProjectRequest } from '../server/route-kinds.js'

/** The price list to use, null for the project's prices and the default list. Null if costs were not requested. */
export type RequestedCosts = { readonly list: string | null } | null

/** Waits for the project and, if costs are requested, for the price lists. Refuses an unknown list. */
export const waitForPrices = async (
  reading: Reading,
  { project, headers, reader }: ProjectRequest,
  costs: RequestedCosts,
): Promise<Position> => {
  const position = await reading.waitForAsOf(project, readConditionsIn(headers))
  if (costs === null) return position
  const withPrices = await reading.waitForAsOf(PRICE_LISTS_SCOPE, readConditionsIn(headers))
  if (costs.list !== null && !(await priceListExists(reader, costs.list, withPrices)))
    throw invalidField(['price_list'], 'value_error', 'Value error, unknown price list')
  return withPrices
}

/** Refuses a price list without a request for costs. */
export const requestedCosts = (
  isRequested: boolean,
  list: string | null,
  option = 'include_costs',
): RequestedCosts => {
  if (isRequested) return { list }
  if (list === null) return null
  const rule = `Value error, a price list requires costs: request them with ${option}`
  throw invalidField(['price_list'], 'value_error', rule)
}

/** How a route waits for the prices of the requested costs, and reads them; null without costs. */
export const pricedReads = (reading: Reading) => {
  const books = cachedBooks(reading.generation)
  return (request: ProjectRequest, costs: RequestedCosts) => ({
    waitFor: () => waitForPrices(reading, request, costs),
    pricesAt: async (position: Position): Promise<PriceBook | null> =>
      costs === null
        ? null
        : books(request.reader, { projectId: request.project, list: costs.list, position }),
  })
}

/** The number alone: proxies limit the size of headers, and the body names the models. */
export const unpricedHeader = (count: number): Readonly<Record<string, string>> =>
  count === 0 ? {} : { 'Tallytree-Unpriced-Models': String(count) }

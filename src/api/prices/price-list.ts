import type { Services } from '../../application/services.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { integerBetween, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { DEFAULT_LIST, listName, MAX_LISTED_PRICES, priceText } from '../../domain/prices/events.js'
import { contentsOf, listProblem, priceListMembers } from '../../domain/prices/list-file.js'
import { importPrices } from '../../application/prices/prices.js'
import { administratorKey } from '../server/authorization.js'
import { invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { writeDirectory } from '../server/route-kinds.js'

/** Imports are acknowledged under this name. Reads with costs of any project wait for it. */
export const PRICE_LISTS_SCOPE = 'price lists'

const count = integerBetween(0, MAX_LISTED_PRICES)

export const priceListRoutes = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'reading'>,
): readonly AnyRoute[] => [
  writeDirectory({
    method: 'post',
    path: '/api/admin/prices',
    summary:
      'Imports prices into a price list, replacing prices for the same model and date. Needs the administrator key.',
    body: closed('PriceListImport', {
      required: priceListMembers,
      optional: { list: withDefault(listName, DEFAULT_LIST) },
    }),
    response: open('PriceListImportResponse', {
      required: {
        list: listName,
        version: priceText,
        published: count,
        withdrawn: wholeNumber,
        unchanged: count,
      },
    }),
    authorization: administratorKey,
    handle: ({ body }) => {
      const problem = listProblem(body)
      if (problem !== undefined) throw invalidField(problem.loc, 'value_error', problem.msg)
      const { list, version, source } = body
      const prices = contentsOf(body)
      return async (cause) => {
        const imported = { list, version, source, prices, once: false }
        const { events, position } = await importPrices(services, imported, cause)
        const published = events.filter(({ type }) => type === 'PricePublished').length
        const withdrawn = events.filter(({ type }) => type === 'PriceWithdrawn').length
        return {
          body: { list, version, published, withdrawn, unchanged: prices.length - published },
          position: services.reading.ackPosition(PRICE_LISTS_SCOPE, position),
        }
      }
    },
  }),
]

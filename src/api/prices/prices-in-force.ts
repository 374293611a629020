import type { Services } from '../../application/services.js'
import { ownersFor } from '../../domain/calls/call-cost.js'
import { priceAt } from '../../domain/prices/choice.js'
import { mapCosts } from '../../domain/prices/cache-costs.js'
import { amountFrom, decimalText, tokenPrice } from '../../domain/prices/decimal.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { sorted } from '../../kernel/sorted.js'
import { bookOf, PRICE_SOURCES, sourceOf } from '../../projections/prices/book.js'
import { pricesAt } from '../../projections/prices/queries.js'
import { extraPrices, priceTiers } from '../../domain/prices/tiers.js'
import { inQuery } from '../server/authorization.js'
import { pageFields, pageOf, takePage } from '../server/page.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'

const priceInForce = open('PriceInForce', {
  says:
    'What a token of a model costs in a project now. `source`: the project, an upstream of its team, or the default list. ' +
    '`since` is later than now if the price is not in force yet and there is no other.',
  required: {
    model: string,
    prompt_token_cost: tokenPrice,
    completion_token_cost: tokenPrice,
    cache_read_input_token_cost: tokenPrice,
    cache_creation_input_token_cost: tokenPrice,
    cache_creation_1h_input_token_cost: tokenPrice,
    source: oneOf(...PRICE_SOURCES),
    since: instant,
  },
  optional: { ...extraPrices, tiers: withDefault(priceTiers, undefined) },
})

export const pricesInForceRoute = (services: Pick<Services, 'access' | 'reading' | 'clock'>): AnyRoute =>
  readProject(services, {
    method: 'get',
    path: '/api/prices',
    summary:
      'Lists the prices that apply to a project now, by model; `q` selects models that contain a text. Needs membership in the ' +
      'team.',
    query: closed('PricesQuery', {
      required: { project_id: projectId },
      optional: { q: withDefault(string, ''), ...pageFields },
    }),
    response: pageOf(priceInForce),
    project: inQuery,
    handle:
      ({ query, project, reader }) =>
      async (position) => {
        const stored = await pricesAt(reader, ownersFor(project), position)
        const { timelines } = bookOf(stored, project, undefined)
        const wanted = query.q.toLowerCase()
        const models = [...timelines.keys()].filter((model) => model.toLowerCase().includes(wanted))
        const { data, next } = takePage(sorted(models, query.after), {
          limit: query.limit,
          keyOf: (model) => model,
        })
        const now = instantOf(services.clock.now())
        return {
          body: {
            data: data.map((model) => {
              const { stored: price } = priceAt(timelines.get(model)!, now)
              return {
                model,
                ...mapCosts(price, (cost) => decimalText(amountFrom(cost))),
                source: sourceOf(price, project),
                since: price.effective_date,
                ...(price.tiers === undefined ? {} : { tiers: price.tiers }),
              }
            }),
            next,
          },
        }
      },
  })

import type { Services } from '../../application/services.js'
import type { AnyRoute } from '../server/route.js'
import { MAX_MODEL_BYTES, modelName } from '../../domain/prices/events.js'
import { inBody } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { namedIds } from '../server/purging.js'
import { changeProject, readProject, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { orderOf } from '../server/sorted-range.js'
import {
  costPurge,
  COST_FIELDS,
  costQueried,
  costQuery,
  costCreate,
  costCreated,
  type CostField,
  type CostJson,
  type CostQuery,
} from './codecs.js'
import { pricesInForceRoute } from './prices-in-force.js'
import { amountFrom, numberFrom } from '../../domain/prices/decimal.js'
import { UnknownField } from '../../domain/query/errors.js'
import { pricesOf, type StoredPrice } from '../../projections/prices/queries.js'
import { invalidField } from '../../application/failure.js'
import { publishPrices, withdrawPrices } from '../../application/prices/prices.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { exactCosts, withoutPlaceholders } from '../../domain/prices/offered.js'
import { idFor } from '../server/idempotency.js'

const MOST = 1000

const createRoute = (services: Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/cost/create',
    summary: 'Set token prices of models in a project; an existing identical price keeps its id.',
    body: costCreate,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: costCreated,
    project: inBody,
    handle: (request) => {
      const { project_id, costs } = request.body
      requireModels(Object.keys(costs))
      const prices = Object.entries(costs).map(([llm_id, { effective_date, ...costs }], place) => {
        const price = { llm_id, effective_date, ...exactCosts(withoutPlaceholders(costs)) }
        return { id: idFor(services, request, place, price), price }
      })
      const publish = publishPrices(services, project_id, prices)
      return async (cause) => {
        const { ids, position, readableAt } = await publish(cause)
        return { body: { ids }, position, readableAt }
      }
    },
  })

const requireModels = (models: readonly string[]): void => {
  if (models.length > MOST)
    throw invalidField(['costs'], 'too_long', `Dictionary should have at most ${MOST} items after validation`)
  const tooLong = models.find((model): boolean => !modelName.is(model))
  if (tooLong === undefined) return
  const rule = `String should have at most ${MAX_MODEL_BYTES} bytes`
  throw invalidField(['costs', tooLong.slice(0, 64).toWellFormed()], 'string_too_long', rule)
}

const queryRoute = (services: Pick<Services, 'access' | 'reading'>): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/cost/query',
    summary: "Read a project's own prices, without those of price lists.",
    body: costQuery,
    errors: ['forbidden'],
    response: costQueried,
    project: inBody,
    handle: ({ body: { fields, query, sort_by, limit, offset }, project: owner, reader }) => {
      const row = rowOf(fields)
      const order = orderOf(sort_by, [])
      return async (position) => {
        const prices = await pricesOf(reader)({
          owner,
          position,
          order,
          operation: query?.$expr ?? null,
          limit: limit ?? Number.MAX_SAFE_INTEGER,
          offset: offset ?? 0,
        })
        return { body: { results: prices.map(row) } }
      }
    },
  })

const rowOf = (fields: CostQuery['fields']): ((price: StoredPrice) => CostJson) => {
  const unknown = fields?.find((field) => !COST_FIELDS.includes(field as CostField))
  if (unknown !== undefined) throw new UnknownField(unknown)
  const wanted = new Set<string>(fields === null || fields.length === 0 ? COST_FIELDS : fields)
  return (price) => ({
    ...(Object.fromEntries(
      COST_FIELDS.filter((field) => price[field] !== undefined).map((field) => [
        field,
        wanted.has(field) ? valueOf(price, field) : null,
      ]),
    ) as unknown as CostJson),
    ...(price.tiers === undefined ? {} : { tiers: price.tiers }),
  })
}

const valueOf = (price: StoredPrice, field: CostField): string | number => {
  const value = price[field] ?? ''
  return field.endsWith('_cost') ? numberFrom(amountFrom(value)) : value
}

const purgeRoute = (services: Pick<Services, keyof Ports | 'access' | 'reading'>): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: '/cost/purge',
    summary: "Purge a project's prices by their ids.",
    body: costPurge,
    response: emptyResponse,
    project: inBody,
    handle: ({ body: { project_id, query } }) =>
      writing(withdrawPrices(services, project_id, namedIds(query.$expr, 'Prices are'))),
  })

export const costRoutes = (services: Services): readonly AnyRoute[] => [
  createRoute(services),
  queryRoute(services),
  purgeRoute(services),
  pricesInForceRoute(services),
]

import type { Services } from '../../application/services.js'
import type { AnyRoute } from '../server/route.js'
import { execute } from '../../kernel/execute.js'
import { priceDecider } from '../../domain/prices/decider.js'
import { priceStream, MAX_MODEL_BYTES, modelName } from '../../domain/prices/events.js'
import { inBody } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { namedIds } from '../server/purging.js'
import { changeProject, readProject, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
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
import type { Ports } from '../../kernel/ports/ports.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { OfferedPrice } from '../../domain/prices/commands.js'
import { exactCosts, withoutPlaceholders } from '../../domain/prices/offered.js'
import { recognised, type PriceState } from '../../domain/prices/state.js'
import { idFor } from '../server/generated-id.js'

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
      const { userId } = request.principal
      const offered = Object.entries(costs)
      requireModels(offered.map(([model]) => model))
      const now = instantOf(services.clock.now())
      const prices = offered.map(([llm_id, { effective_date, ...costs }], place) => {
        const price: OfferedPrice = { llm_id, effective_date, ...exactCosts(withoutPlaceholders(costs)) }
        return { id: idFor(services, request, place, price), price }
      })
      const owner = { project_id, list: null }
      const command = { type: 'PublishPrices', owner, prices, userId, now } as const
      return writing(
        (cause) => execute(services)(priceDecider, priceStream(owner), [command], cause),
        ({ state }) => {
          const ids = prices.map(({ id, price }) => [standingId(state, id, price, now), price.llm_id])
          return { ids }
        },
      )
    },
  })

/** The id of the price, or of an earlier identical one. */
const standingId = (
  state: PriceState,
  id: string,
  price: OfferedPrice,
  now: Parameters<typeof recognised>[2],
): string => (state.known.has(id) ? id : (recognised(state, price, now)?.id ?? id))

const requireModels = (models: readonly string[]): void => {
  if (models.length > MOST)
    throw invalidField(['costs'], 'too_long', `Dictionary should have at most ${MOST} items after validation`)
  const tooLong = models.find((model): boolean => !modelName.is(model))
  if (tooLong === undefined) return
  const rule = `String should have at most ${MAX_MODEL_BYTES} bytes`
  throw invalidField(['costs', tooLong.slice(0, 64).toWellFormed()], 'string_too_long', rule)
}

const MAX_SORT_FIELDS = 8

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
      const order = orderOf(sort_by)
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

/** If a field is repeated, its first occurrence counts. */
const orderOf = (asked: CostQuery['sort_by']) => {
  const order = new Map<string, NonNullable<typeof asked>[number]>()
  for (const one of asked ?? []) if (!order.has(one.field)) order.set(one.field, one)
  if (order.size > MAX_SORT_FIELDS)
    throw invalidField(
      ['sort_by'],
      'too_long',
      `List should have at most ${MAX_SORT_FIELDS} items after validation`,
    )
  return [...order.values()]
}

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

const purgeRoute = (services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading'>): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: '/cost/purge',
    summary: "Purge a project's prices by their ids.",
    body: costPurge,
    response: emptyResponse,
    project: inBody,
    handle: ({ body: { project_id, query } }) => {
      const owner = { project_id, list: null }
      const ids = [...new Set(namedIds(query.$expr, 'Prices are'))]
      const commands = ids.map((id) => ({ type: 'WithdrawPrice', owner, id }) as const)
      return writing((cause) =>
        execute(services)(priceDecider, priceStream(owner), commands, cause, { splitAppends: true }),
      )
    },
  })

export const costRoutes = (services: Services): readonly AnyRoute[] => [
  createRoute(services),
  queryRoute(services),
  purgeRoute(services),
  pricesInForceRoute(services),
]

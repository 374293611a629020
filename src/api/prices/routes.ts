import type { Services } from '../../application/services.js'
import { writtenAs, type AnyRoute } from '../server/route.js'
import { MAX_MODEL_BYTES, modelName } from '../../domain/prices/events.js'
import { inBody } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { namedIds } from '../server/purging.js'
import { changeProject, readProject, idempotent, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { orderOf, range, sortBy } from '../server/sorted-range.js'
import { pricesInForceRoute } from './prices-in-force.js'
import { amountFrom, numberFrom } from '../../domain/prices/decimal.js'
import { UnknownField } from '../../domain/query/errors.js'
import { pricesOf, type StoredPrice } from '../../projections/prices/queries.js'
import { invalidField } from '../../application/failure.js'
import { publishPrices, withdrawPrices } from '../../application/prices/prices.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { exactCosts, withoutPlaceholders, offeredCosts } from '../../domain/prices/offered.js'
import { idFor } from '../server/idempotency.js'
import type * as t from 'io-ts'
import { arrayOf, eachNullable, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { number, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, projectId } from '../../kernel/ids.js'
import { forEachCost } from '../../domain/prices/units.js'
import { priceTiers } from '../../domain/prices/tiers.js'
import { fieldName } from '../../domain/query/field-path.js'
import { query } from '../../domain/query/query.js'

const offeredCost = open('OfferedCost', {
  says: 'Token prices of a model, effective now if no date is given. A cost of the cache that is 0 counts as not given.',
  required: offeredCosts.required,
  optional: { ...offeredCosts.optional, effective_date: nullable(instant) },
})

const costCreate = closed('CostCreateRequest', {
  required: { project_id: projectId, costs: recordOf(offeredCost) },
  optional: { wb_user_id: nullable(string) },
})

/** Id and model, the order in which SDKs read them. */
const pair = { type: 'array', prefixItems: [id.schema, string.schema], minItems: 2, maxItems: 2 }

const costCreated = writtenAs<{ readonly ids: readonly (readonly string[])[] }>({
  type: 'object',
  title: 'CostCreateResponse',
  properties: { ids: { type: 'array', items: pair } },
  required: ['ids'],
})

const costQuery = closed('CostQueryRequest', {
  required: { project_id: projectId },
  optional: { fields: nullable(arrayOf(fieldName)), query: nullable(query), sort_by: sortBy, ...range },
})
type CostQuery = t.TypeOf<typeof costQuery>

/** A price in a response; fields that were not requested are null. */
const COST = {
  id,
  llm_id: string,
  prompt_token_cost: number,
  completion_token_cost: number,
  cache_read_input_token_cost: number,
  cache_creation_input_token_cost: number,
  cache_creation_1h_input_token_cost: number,
  prompt_token_cost_unit: string,
  completion_token_cost_unit: string,
  effective_date: instant,
  provider_id: string,
}

/** Only where the price states them. */
const EXTRA_COST = {
  prompt_audio_token_cost: nullable(number),
  completion_audio_token_cost: nullable(number),
  ...forEachCost(() => nullable(number)),
}

type CostField = keyof typeof COST | keyof typeof EXTRA_COST
const COST_FIELDS = Object.keys({ ...COST, ...EXTRA_COST }) as readonly CostField[]

const cost = open('Cost', {
  says: "A project's price per token for a model.",
  required: eachNullable(COST),
  optional: { ...EXTRA_COST, tiers: withDefault(priceTiers, undefined) },
})

type CostJson = (typeof cost)['answer']

const costQueried = open('CostQueryResponse', { required: { results: arrayOf(cost) } })

const costPurge = closed('CostPurgeRequest', { required: { project_id: projectId, query } })

const MOST = 1000

const createRoute = (services: Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/cost/create',
    summary: 'Set token prices of models in a project; an existing identical price keeps its id.',
    body: costCreate,
    ...idempotent,
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

import type { Services } from '../../application/services.js'
import { amountFrom, numberFrom } from '../../domain/prices/decimal.js'
import { UnknownField } from '../../domain/query/query.js'
import { pricesOf, type StoredPrice } from '../../projections/prices/queries.js'
import { inBody } from '../server/authorization.js'
import { invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { COST_FIELDS, costQueried, costQuery, type CostField, type CostQuery } from './codecs.js'

const MAX_SORT_FIELDS = 8

export const queryRoute = (services: Pick<Services, 'access' | 'reading'>): AnyRoute =>
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

const rowOf = (fields: CostQuery['fields']): ((price: StoredPrice) => Record<CostField, unknown>) => {
  const unknown = fields?.find((field) => !COST_FIELDS.includes(field as CostField))
  if (unknown !== undefined) throw new UnknownField(unknown)
  const wanted = new Set<string>(fields === null || fields.length === 0 ? COST_FIELDS : fields)
  return (price) =>
    Object.fromEntries(
      COST_FIELDS.map((field) => [field, wanted.has(field) ? valueOf(price, field) : null]),
    ) as Record<CostField, unknown>
}

const valueOf = (price: StoredPrice, field: CostField): string | number =>
  field.endsWith('_cost') ? numberFrom(amountFrom(price[field])) : price[field]

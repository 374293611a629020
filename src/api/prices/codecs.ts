import type * as t from 'io-ts'
import { arrayOf, eachNullable, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { number, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, projectId } from '../../kernel/ids.js'
import { offeredCosts } from '../../domain/prices/offered.js'
import { priceTiers } from '../../domain/prices/tiers.js'
import { fieldName } from '../../domain/query/field-path.js'
import { query } from '../../domain/query/query.js'
import { writtenAs } from '../server/route.js'
import { range, sortBy } from '../server/sorted-range.js'

const offeredCost = open('OfferedCost', {
  says: 'Token prices of a model, effective now if no date is given. A cost of the cache that is 0 counts as not given.',
  required: offeredCosts.required,
  optional: { ...offeredCosts.optional, effective_date: nullable(instant) },
})

export const costCreate = closed('CostCreateRequest', {
  required: { project_id: projectId, costs: recordOf(offeredCost) },
  optional: { wb_user_id: nullable(string) },
})

/** Id and model, the order in which SDKs read them. */
const pair = { type: 'array', prefixItems: [id.schema, string.schema], minItems: 2, maxItems: 2 }

export const costCreated = writtenAs<{ readonly ids: readonly (readonly string[])[] }>({
  type: 'object',
  title: 'CostCreateResponse',
  properties: { ids: { type: 'array', items: pair } },
  required: ['ids'],
})

export const costQuery = closed('CostQueryRequest', {
  required: { project_id: projectId },
  optional: { fields: nullable(arrayOf(fieldName)), query: nullable(query), sort_by: sortBy, ...range },
})
export type CostQuery = t.TypeOf<typeof costQuery>

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
  web_search_cost: nullable(number),
}

export type CostField = keyof typeof COST | keyof typeof EXTRA_COST
export const COST_FIELDS = Object.keys({ ...COST, ...EXTRA_COST }) as readonly CostField[]

const cost = open('Cost', {
  says: "A project's price per token for a model.",
  required: eachNullable(COST),
  optional: { ...EXTRA_COST, tiers: withDefault(priceTiers, undefined) },
})

export type CostJson = (typeof cost)['answer']

export const costQueried = open('CostQueryResponse', { required: { results: arrayOf(cost) } })

export const costPurge = closed('CostPurgeRequest', { required: { project_id: projectId, query } })

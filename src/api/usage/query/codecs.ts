import { erasedCallsField } from '../../calls/erased-calls.js'
import type * as t from 'io-ts'
import { describedAs } from '../../../kernel/codec/codec.js'
import { CALENDAR_UNITS } from '../../../domain/usage/calendar.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { boolean, int64, integerBetween, number, oneOf, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { projectId, teamName } from '../../../kernel/ids.js'
import { listName } from '../../../domain/prices/events.js'
import { fieldName } from '../../../domain/query/field-path.js'
import { query } from '../../../domain/query/query.js'
import { EXTRA_UNITS, forEach, UNIT_NAMES } from '../../../domain/prices/units.js'
import { costField, MEASURES } from '../../../projections/usage/columns.js'
import { DERIVED, DIMENSIONS } from '../../../projections/usage/query/groups-sql.js'
import { unpricedModels } from '../../../application/calls/unpriced-models.js'
import { usageMembers } from '../../../application/calls/usage-json.js'
import { callsFilter } from '../../../application/calls/filter.js'

const MAX_GROUPS = 10_000

export const NAMED_DIMENSIONS = [...Object.keys(DIMENSIONS), ...DERIVED, ...CALENDAR_UNITS]

const dimension = describedAs(fieldName, {
  description: `One of ${NAMED_DIMENSIONS.join(', ')}, or the path of an attribute such as attributes.environment.`,
  examples: ['model', 'day', 'attributes.environment'],
})

const order = closed('UsageOrder', {
  required: {
    field: describedAs(string, { description: `A member of group_by, or one of ${MEASURES.join(', ')}.` }),
  },
  optional: { direction: withDefault(oneOf('asc', 'desc'), 'desc' as const) },
})

export const usageQueryRequest = closed('UsageQueryRequest', {
  optional: {
    project_id: nullable(projectId),
    team: nullable(
      describedAs(teamName, { description: 'All projects of a team, in place of `project_id`.' }),
    ),
    start: nullable(instant),
    end: nullable(instant),
    filter: nullable(callsFilter),
    query: nullable(query),
    usage: withDefault(oneOf('own', 'inclusive'), 'own' as const),
    group_by: nullable(arrayOf(dimension)),
    sort_by: nullable(arrayOf(order)),
    limit: withDefault(integerBetween(1, MAX_GROUPS), 100),
    include_costs: withDefault(boolean, false),
    price_list: nullable(listName),
    timezone: withDefault(
      describedAs(string, { description: 'An IANA name.', examples: ['America/New_York'] }),
      'UTC',
      true,
    ),
    compare: nullable(oneOf('previous_period')),
    format: withDefault(oneOf('json', 'ndjson', 'csv', 'parquet'), 'json' as const),
    byte_order_mark: withDefault(boolean, false),
  },
})
export type UsageQueryRequest = t.TypeOf<typeof usageQueryRequest>

const figures = open('UsageFigures', {
  says:
    'Costs are exact decimals, null if they were not requested or no model has a price. `provider_cost` is the part of ' +
    '`total_cost` that providers reported for models without a price. `unrecognized_usage` counts reports of calls that were ' +
    'not understood as a whole. `cache_hits` counts answers of the cache of the gateway, and `saved_tokens` and `saved_cost` ' +
    'are what the answers that these repeat used and cost.',
  required: {
    calls: int64,
    ...usageMembers,
    ...forEach(EXTRA_UNITS, () => int64),
    unrecognized_usage: int64,
    cache_hits: int64,
    saved_tokens: int64,
    saved_cost: nullable(number),
    ...forEach(UNIT_NAMES.map(costField), () => nullable(number)),
    provider_cost: nullable(number),
    total_cost: nullable(number),
  },
  optional: unpricedModels,
})

const usageRow = open('UsageRow', {
  says: 'Usage of one group. Time buckets are named by their start.',
  required: { group: recordOf(string), usage: figures },
  optional: { previous: nullable(figures) },
})

const usageRest = open('UsageRest', {
  says: 'The sum of the groups beyond the limit.',
  required: { groups: int64, usage: figures },
  optional: { previous: nullable(figures) },
})

export const usageLine = open('UsageLine', {
  says: 'Usage of one group. The last line has no group if it is the sum of the groups beyond the limit.',
  required: { group: nullable(recordOf(string)), usage: figures },
  optional: { groups: int64, previous: nullable(figures) },
})

const usageTotals = open('UsageTotals', {
  says: 'The sum of all groups.',
  required: { groups: int64, usage: figures },
  optional: { previous: nullable(figures) },
})

export const usageQueryResponse = open('UsageQueryResponse', {
  says: 'Usage by group, in order.',
  required: {
    ...{ rows: arrayOf(usageRow), others: nullable(usageRest), totals: usageTotals },
    erased_calls: erasedCallsField,
  },
})

import { erasedCallsField } from '../../calls/erased-calls.js'
import * as t from 'io-ts'
import { Codec, describedAs, refuse } from '../../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { int64, integerBetween, number, oneOf, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { projectId } from '../../../kernel/ids.js'
import { listName } from '../../../domain/prices/events.js'
import { query } from '../../../domain/query/query.js'
import { AGGREGATIONS } from '../../../projections/usage/stats/metric.js'
import { CALL_METRICS } from '../../../projections/usage/stats/call-stats.js'
import { USAGE_METRICS } from '../../../projections/usage/stats/usage-stats.js'
import { unpricedModels } from '../../../application/calls/unpriced-models.js'
import { callsFilter } from '../../../application/calls/filter.js'

const UNITS = { minute: 60, hour: 3600, day: 86_400 } as const
const LONGEST = 31 * 86_400

const isSeconds = (u: unknown): u is number => int64.is(u) && u >= 1 && u <= LONGEST
const secondsOf = (u: unknown): number | undefined =>
  isSeconds(u)
    ? u
    : typeof u === 'string' && Object.hasOwn(UNITS, u)
      ? UNITS[u as keyof typeof UNITS]
      : undefined

/** The length of buckets in seconds, or one of the named lengths. */
const granularity = new Codec<number>(
  'granularity',
  isSeconds,
  (u, c) => {
    const seconds = secondsOf(u)
    return seconds === undefined
      ? refuse(
          u,
          c,
          'value_error',
          `Value error, input should be seconds from 1 to ${LONGEST}, or 'minute', 'hour' or 'day'`,
        )
      : t.success(seconds)
  },
  {
    description: 'Seconds, or a name: 60 is a minute, 3600 an hour, 86400 a calendar day in the time zone.',
    anyOf: [
      { type: 'integer', minimum: 1, maximum: LONGEST },
      { type: 'string', enum: Object.keys(UNITS) },
    ],
  },
  secondsOf,
)

const figures = {
  aggregations: nullable(arrayOf(oneOf(...AGGREGATIONS))),
  percentiles: nullable(arrayOf(describedAs(number, { minimum: 0, maximum: 100 }))),
}

const usageMetric = closed('UsageMetric', {
  says:
    'Usage and cost of calls by model, without their descendants. Defaults to the sum if no aggregation or percentile is given. ' +
    'Cost sums are exact decimals.',
  required: { metric: oneOf(...USAGE_METRICS) },
  optional: figures,
})

const callMetric = closed('CallMetric', {
  says: 'Counts, errors and latency of calls. Defaults to the sum if no aggregation or percentile is given.',
  required: { metric: oneOf(...CALL_METRICS) },
  optional: figures,
})

const MAX_GROUPS = 1000
const DEFAULT_GROUPS = 100

export const callStatsRequest = closed('CallStatsRequest', {
  required: { project_id: projectId, start: instant },
  optional: {
    end: nullable(instant),
    granularity: nullable(granularity),
    usage_metrics: nullable(arrayOf(usageMetric)),
    call_metrics: nullable(arrayOf(callMetric)),
    filter: nullable(callsFilter),
    query: nullable(query),
    price_list: nullable(listName),
    group_by: nullable(
      describedAs(arrayOf(string, 1), {
        description:
          'Up to 3 fields of calls, such as `op_name`, `wb_user_id`, `summary.weave.status` or `attributes.release`.',
      }),
    ),
    limit: withDefault(integerBetween(1, MAX_GROUPS), DEFAULT_GROUPS),
    timezone: withDefault(
      describedAs(string, { description: 'An IANA name.', examples: ['America/New_York'] }),
      'UTC',
      true,
    ),
  },
})
export type CallStatsRequest = t.TypeOf<typeof callStatsRequest>

const FIGURES =
  'Each requested value is present under two names, such as `latency_ms_p95` and `p95_latency_ms`; null if ' +
  'there is no data.'

const figuresBeside = { additionalProperties: { type: ['number', 'null'] } }

const usageBucket = describedAs(
  open('UsageBucket', {
    says: `Usage of a model by calls started in this bucket. ${FIGURES}`,
    required: { timestamp: instant, model: string, count: int64 },
  }),
  figuresBeside,
)

const callBucket = describedAs(
  open('CallBucket', {
    says: `Calls started in this bucket. ${FIGURES}`,
    required: { timestamp: instant, count: int64 },
  }),
  figuresBeside,
)

const callGroup = describedAs(
  open('CallGroup', {
    says: `The calls of the whole range with these values of the fields of \`group_by\`, null for none, the largest group first. ${FIGURES}`,
    required: { key: arrayOf(nullable(string)), count: int64, error_count: int64 },
  }),
  figuresBeside,
)

export const callStatsResponse = open('CallStatsResponse', {
  says: 'The first bucket starts at or before `start`. Buckets without calls are included, for every model in the response.',
  required: {
    start: instant,
    end: instant,
    granularity: int64,
    timezone: string,
    usage_buckets: arrayOf(usageBucket),
    call_buckets: arrayOf(callBucket),
    erased_calls: erasedCallsField,
    ended_before_start_count: describedAs(nullable(int64), {
      description:
        'Calls that ended before they started. They have no latency. Null if no latency is requested.',
    }),
  },
  optional: {
    ...unpricedModels,
    call_groups: describedAs(nullable(arrayOf(callGroup)), { description: 'Only with `group_by`.' }),
    other_call_count: describedAs(nullable(int64), { description: 'Calls of the groups beyond `limit`.' }),
  },
})

import type { CalendarUnit } from '../../../domain/usage/calendar.js'
import { REPORTED_UNIT } from '../../../domain/calls/usage/charged.js'
import { microseconds } from '../../../kernel/codec/instant.js'
import { projectNameOf } from '../../../kernel/ids.js'
import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { statementFields } from '../../calls/fields.js'
import { conjunctsOf, startRange } from '../../calls/locate.js'
import { selection, type CallSelection } from '../../calls/select.js'
import type { UsageJoin } from '../../calls/usage-fields.js'
import { fieldValue } from '../../expression/fields.js'
import { asText } from '../../expression/value.js'
import { joined, raw, sql, timeSql, typed, type Sql } from '../../sql.js'
import {
  CHARGED,
  COSTS,
  LABEL_COLUMNS,
  LABELS,
  MEASURES,
  RARE_COUNTERS,
  SHOWN_COUNTERS,
  USED,
  type Cost,
  type Label,
} from '../columns.js'
import { withPreviousRange } from './previous-range.js'
import { priceSteps, RATES } from './price-steps.js'
import { readManyUsage, selectsByCalls, usageRows, type UsageRowsQuery } from './usage-rows.js'

/** What usage is grouped by, besides times and attributes, and the column that has it. */
export const DIMENSIONS = {
  model: 'model',
  ...Object.fromEntries(LABELS.map((label) => [LABEL_COLUMNS[label].dimension, label])),
} as Readonly<Record<'model' | (typeof LABEL_COLUMNS)[Label]['dimension'], string>>

export type Dimension =
  | { readonly name: keyof typeof DIMENSIONS }
  /** `starts` in seconds since 1970, ascending, the first at or before the range. */
  | { readonly name: CalendarUnit; readonly starts: readonly number[] }
  | { readonly name: `attributes.${string}` }
  /** The project of the query, the API key of a completion of the gateway, or a field of the calls. */
  | { readonly name: (typeof DERIVED)[number] }

const FIELDS = ['end_user', 'environment'] as const
export const DERIVED = ['project', 'key', ...FIELDS] as const

/** Where the gateway records the id of the API key. */
const KEY_FIELD = 'attributes.tallytree.key_id'

const COLUMNS = { ...DIMENSIONS, call: 'call_id' } as const

export interface UsageOrder {
  /** The name of a dimension, or a measure. */
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

export interface UsageQuery extends UsageRowsQuery {
  readonly groupBy: readonly Dimension[]
  readonly orderBy: readonly UsageOrder[]
  /** Groups beyond it are summed up as one. */
  readonly limit: number
  /** Compares with the range of the same length before `began`. */
  readonly isCompared: boolean
}

interface PricedQuery extends Omit<UsageQuery, 'groupBy' | 'orderBy' | 'limit'> {
  readonly groupBy: readonly (
    Dimension | { readonly name: 'call' } | { readonly name: 'bucket'; readonly starts: readonly number[] }
  )[]
}

/** The models without a price that a group names at most. */
const MAX_UNPRICED = 1000

/**
 * Reads the groups of a query by the statement that it is given.
 *
 * @throws UnknownField
 */
export const readGroups = <A>(
  reader: ClickHouseReader,
  query: UsageQuery,
  read: (groups: Sql) => Promise<A>,
): Promise<A> =>
  readManyUsage(
    reader,
    withPreviousRange(query, query.isCompared),
    query.groupBy.some(isAttribute) || selectsByCalls(query),
    (merged) => read(groupsSql({ ...query, merged })),
  )

const attributeOf = ({ name }: { readonly name: string }): string | undefined => {
  if (name === 'key') return KEY_FIELD
  return name.startsWith('attributes.') || (FIELDS as readonly string[]).includes(name) ? name : undefined
}
const isAttribute = (dimension: { readonly name: string }): boolean => attributeOf(dimension) !== undefined

/** One row for each group up to the limit, numbered by `place`, and one for the rest. */
const groupsSql = (query: UsageQuery): Sql => {
  const { groupBy, limit, isCompared } = query
  const keys = groupBy.map((_, index) => `key_${index}`)
  const periods = isCompared ? (['', 'previous_'] as const) : ([''] as const)
  const hasCosts = query.open.prices !== null
  const sums = periods.flatMap((prefix) => {
    const isOfPeriod = `priced.is_current = ${prefix === '' ? 1 : 0}`
    const measures = MEASURES.map(
      (measure) => `sumIf(priced.${measure}, ${isOfPeriod}) AS ${prefix}${measure}`,
    )
    return hasCosts ? [...measures, ...pricingOfGroup(prefix, isOfPeriod)] : measures
  })
  const pricing = periods.flatMap((prefix) => (hasCosts ? pricingOfGroups(prefix) : noPricing(prefix)))
  const all = periods.flatMap((prefix) => MEASURES.map((measure) => `${prefix}${measure}`))
  const grouped = sql`SELECT ${raw([...keys, ...sums].join(', '))}
    FROM (${pricedSql(query)}) AS priced GROUP BY ${raw(keys.length === 0 ? 'tuple()' : keys.join(', '))}`
  const ranked = sql`SELECT *, least(row_number() OVER (ORDER BY ${raw(orderTerms(query).join(', '))}), ${typed('UInt64', limit)} + 1) AS rank
    FROM (${grouped})`
  const columns = [
    ...keys.map((key) => `any(ranked.${key}) AS ${key}`),
    ...all.map((measure) => `toString(sum(ranked.${measure})) AS ${measure}`),
    ...pricing,
  ]
  return sql`SELECT rank AS place, count() AS group_count, ${raw(columns.join(', '))}
      FROM (${ranked}) AS ranked GROUP BY rank`
}

const pricingOfGroup = (prefix: string, isOfPeriod: string): readonly string[] => [
  `maxIf(priced.is_priced, ${isOfPeriod}) AS ${prefix}is_priced_in_group`,
  `groupUniqArrayArrayIf(${MAX_UNPRICED})(priced.unpriced, ${isOfPeriod}) AS ${prefix}unpriced_in_group`,
  `uniqExactArrayIfState(priced.unpriced, ${isOfPeriod}) AS ${prefix}unpriced_state`,
]

const pricingOfGroups = (prefix: string): readonly string[] => [
  `max(ranked.${prefix}is_priced_in_group) AS ${prefix}is_priced`,
  `arraySort(groupUniqArrayArray(${MAX_UNPRICED})(ranked.${prefix}unpriced_in_group)) AS ${prefix}unpriced_models`,
  `uniqExactArrayIfMerge(ranked.${prefix}unpriced_state) AS ${prefix}unpriced_model_count`,
]

const noPricing = (prefix: string): readonly string[] => [
  `0 AS ${prefix}is_priced`,
  `[] AS ${prefix}unpriced_models`,
  `0 AS ${prefix}unpriced_model_count`,
]

const orderTerms = ({ orderBy, groupBy }: UsageQuery): readonly string[] => {
  const terms = orderBy.map(({ field, direction }) => {
    const index = groupBy.findIndex(({ name }) => name === field)
    return `${index < 0 ? field : `key_${index}`} ${direction.toUpperCase()}`
  })
  const byKey = groupBy.map((_, index) => `key_${index} ASC`)
  return terms.length + byKey.length === 0 ? ['tuple()'] : [...terms, ...byKey]
}

/**
 * The inclusive usage of the calls of a selection, for filters and sorts. It may have calls that the selection has not.
 *
 * @throws UnknownField
 */
export const usageOfCalls = (
  { operation, ...selected }: CallSelection,
  open: UsageQuery['open'],
): UsageJoin => {
  const started = startRange(operation === null ? [] : conjunctsOf(operation))
  const sums = raw(MEASURES.map((measure) => `sum(priced.${measure}) AS ${measure}`).join(', '))
  return (range) => {
    const priced = pricedSql({
      ...selected,
      open,
      kind: 'inclusive',
      operation: null,
      range: [...started, ...range],
      groupBy: [{ name: 'call' }],
      isCompared: false,
    })
    return sql`(SELECT key_0 AS call_id, ${sums} FROM (${priced}) AS priced GROUP BY key_0)`
  }
}

/**
 * Sums by group, model, time between two changes of prices, and period, with what they cost. Unless they are summed, the
 * rows of the calls and models themselves.
 */
export const pricedSql = (query: PricedQuery, isSummed = true): Sql => {
  const { isCompared, groupBy, began } = query
  const { prices } = query.open
  const steps = prices === null ? undefined : priceSteps(prices)
  const keys = groupBy.map((_, index) => `key_${index}`)
  const counted = groupBy.some(({ name }) => name === 'model') ? 'is_first_of_model' : 'is_first'
  const counters = [
    ...SHOWN_COUNTERS,
    ...RARE_COUNTERS,
    'reported_cost',
    ...CHARGED.map(({ counter }) => counter),
  ]
  const figures = [...new Set(counters)].map((name) =>
    isSummed ? `sum(toInt128(${name})) AS ${name}_sum` : `toInt128(${name}) AS ${name}_sum`,
  )
  // Keys take time, so there are none that all rows share.
  const parts = [
    ...keys,
    ...(steps === undefined ? [] : ['model', 'slot']),
    ...(isCompared ? ['is_current'] : []),
  ]
  const columns = parts.map((part) => {
    if (part === 'slot') return sql`roundDown(priced_at, ${typed('Array(Int64)', steps!.changes)}) AS slot`
    return part === 'is_current' ? sql`started_at >= ${timeSql(began!.from)} AS is_current` : raw(part)
  })
  const grouping = isSummed ? `GROUP BY ${parts.length === 0 ? 'tuple()' : parts.join(', ')}` : ''
  const calls = isSummed ? `countIf(${counted})` : counted
  const summed = sql`SELECT ${joined([...columns, raw([`${calls} AS call_count`, ...figures].join(', '))])} FROM ${rowsSql(query)} ${raw(grouping)}`
  const costs = COSTS.map((cost) => `${steps === undefined ? 'toInt256(0)' : costSql(cost)} AS ${cost}`)
  const charged = `(${USED.map((counter) => `${counter}_sum != 0`).join(' OR ')})`
  const isPriced = steps === undefined ? '0' : `steps.is_priced = 1 AND ${charged}`
  const unpriced =
    steps === undefined ? '[]' : `if(steps.is_priced = 0 AND ${charged}, [${modelSql('model')}], [])`
  const shown = [...SHOWN_COUNTERS, ...RARE_COUNTERS].map((name) => {
    const isUnderstood = name === 'unrecognized_usage' && steps !== undefined
    return `${isUnderstood ? `if(steps.is_understood = 1, toInt128(0), ${name}_sum)` : `${name}_sum`} AS ${name}`
  })
  const selected = [
    ...keys,
    isCompared ? 'is_current' : '1 AS is_current',
    'call_count AS calls',
    ...shown,
    ...costs,
    `${COSTS.join(' + ')} AS total_cost`,
    `toUInt8(${isPriced}) AS is_priced`,
    `CAST(${unpriced}, 'Array(String)') AS unpriced`,
  ]
  const priced =
    steps === undefined
      ? sql``
      : sql`ASOF LEFT JOIN ${steps.steps} AS steps ON summed.model = steps.model AND summed.slot >= steps.since`
  return sql`SELECT ${raw(selected.join(', '))} FROM (${summed}) AS summed ${priced}`
}

const costSql = (cost: Cost): string => {
  if (cost === 'provider_cost')
    return `if(steps.is_priced = 0, toInt256(reported_cost_sum) * ${REPORTED_UNIT}, toInt256(0))`
  return CHARGED.flatMap((charged, kind) =>
    charged.cost === cost ? [`${charged.counter}_sum * steps.${RATES[kind]}`] : [],
  ).join(' + ')
}

/** The name of a model of a key: see `variantKey`. */
export const modelSql = (key: string): string =>
  `replaceAll(replaceAll(toString(substringIndex(${key}, char(31), 1)), char(30, 70), char(31)), char(30, 69), char(30))`

/** The rows with the keys that they are grouped by. */
const rowsSql = (query: PricedQuery): Sql => {
  const { groupBy, began, isCompared } = query
  const asked = withPreviousRange(query, isCompared)
  const attributes = attributesSql(asked)
  const time = sql`toUnixTimestamp64Micro(started_at)`
  const moved =
    isCompared && began !== undefined
      ? sql`${time} + if(started_at < ${timeSql(began.from)}, ${typed('Int64', microseconds(began.to) - microseconds(began.from))}, 0)`
      : time
  const keys = groupBy.map((dimension, index) => {
    const key = raw(` AS key_${index}`)
    if ('starts' in dimension) {
      const starts = dimension.starts.map((start) => BigInt(start) * 1_000_000n)
      return sql`, intDiv(roundDown(${moved}, ${typed('Array(Int64)', starts)}), 1000000)${key}`
    }
    if (isAttribute(dimension)) return raw(`, attributes.attribute_${index} AS key_${index}`)
    if (dimension.name === 'project') return sql`, ${projectNameOf(query.projectId)}${key}`
    const column = COLUMNS[dimension.name as keyof typeof COLUMNS]
    return sql`, ${raw(column === 'model' ? modelSql('rows.model') : `toString(rows.${column})`)}${key}`
  })
  const join =
    attributes === undefined
      ? sql``
      : sql`INNER JOIN (${attributes}) AS attributes ON rows.call_id = attributes.id`
  return sql`(SELECT rows.*${joined(keys, '')} FROM ${usageRows(asked)} AS rows ${join})`
}

/** The values of attributes of the selected calls; undefined where usage is grouped by none. */
const attributesSql = (query: PricedQuery): Sql | undefined => {
  const { fields } = statementFields()
  const columns = query.groupBy.flatMap((dimension, index) =>
    isAttribute(dimension)
      ? [
          sql`ifNull(${asText(fieldValue(fields, attributeOf(dimension)!))}, '') AS ${raw(`attribute_${index}`)}`,
        ]
      : [],
  )
  if (columns.length === 0) return undefined
  return selection(sql`call_id AS id, ${joined(columns)}`, query, query.merged?.calls)
}

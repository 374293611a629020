import { Readable } from 'node:stream'
import type { Services } from '../../../application/services.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import {
  exportUsage,
  usageBy,
  clamped,
  isUnknownCost,
  type UsageFigures,
  type UsageGroup,
} from '../../../projections/usage/query/queries.js'
import { readTotals } from '../../../projections/usage/query/open-traces.js'
import { withPreviousRange } from '../../../projections/usage/query/previous-range.js'
import type { UsageQuery, Dimension } from '../../../projections/usage/query/groups-sql.js'
import { inBody } from '../../server/authorization.js'
import { JSON_LINES, linesOf } from '../../server/json-pages.js'
import type { AnyRoute } from '../../server/route.js'
import { readProject } from '../../server/route-kinds.js'
import { requireBoundedFilter } from '../../calls/filter.js'
import { pricedReads, requestedCosts, unpricedHeader } from '../../calls/requested-costs.js'
import { unpricedMembers } from '../../../application/calls/unpriced-models.js'
import { refuseTooLarge } from '../usage.js'
import { usageLine, usageQueryRequest, usageQueryResponse, type UsageQueryRequest } from './codecs.js'
import { dimensionsOf, orderOf, rangeOf } from './dimensions.js'
import { decimalText } from '../../../domain/prices/decimal.js'
import { isCost, MEASURES, measureName, type Measure } from '../../../projections/usage/columns.js'

const EXPORTS = {
  csv: { format: 'CSVWithNames', type: 'text/csv; charset=utf-8' },
  parquet: { format: 'Parquet', type: 'application/vnd.apache.parquet' },
} as const

export const usageQueryRoutes = (
  services: Pick<Services, 'clock' | 'access' | 'reading'>,
): readonly AnyRoute[] => {
  const priced = pricedReads(services.reading)
  return [
    readProject(services, {
      method: 'post',
      path: '/usage/query',
      summary: 'Usage and cost of the calls that match a filter and a query, by group.',
      body: usageQueryRequest,
      errors: ['forbidden'],
      response: {
        schema: usageQueryResponse.schema,
        alternatives: {
          [JSON_LINES]: linesOf('With `format: ndjson`: one group per line.', usageLine.schema),
          'text/csv': { type: 'string', description: 'With `format: csv`: a header and one line per group.' },
          [EXPORTS.parquet.type]: {
            type: 'string',
            format: 'binary',
            description: 'With `format: parquet`.',
          },
        },
        headers: ['Tallytree-Position', 'Tallytree-Unpriced-Models'],
      },
      project: inBody,
      handle: (request) => {
        const { body, project: projectId, reader } = request
        const { filter, include_costs, price_list: list, limit, format } = body
        requireBoundedFilter(filter)
        const { waitFor, pricesAt } = priced(request, requestedCosts(include_costs, list))
        const range = rangeOf(body, instantOf(services.clock.now()))
        const groupBy = dimensionsOf(body, range)
        const orderBy = orderOf(body)
        return {
          waitFor,
          read: async (position) => {
            const selection = {
              projectId,
              filter,
              position,
              kind: body.usage,
              operation: body.query?.$expr ?? null,
              ...(range === undefined ? {} : { began: range }),
              prices: await pricesAt(position),
            }
            const shown = { groupBy, hasCosts: include_costs }
            return readTotals(reader, withPreviousRange(selection, body.compare !== null), (open) => {
              const isCompared = body.compare !== null
              return respond(
                reader,
                { ...selection, open, groupBy, orderBy, limit, isCompared },
                format,
                shown,
              )
            }).catch(refuseTooLarge)
          },
        }
      },
    }),
  ]
}

const respond = async (
  reader: ClickHouseReader,
  query: UsageQuery,
  format: UsageQueryRequest['format'],
  shown: ResponseOptions,
) => {
  if (format === 'csv' || format === 'parquet') {
    const chunks = await exportUsage(reader, query, EXPORTS[format].format)
    return { body: Readable.from(chunks, { objectMode: false }), type: EXPORTS[format].type }
  }
  const groups = await usageBy(reader, query)
  const text = format === 'json' ? usageQueryJson(groups, shown) : usageQueryLines(groups, shown)
  return {
    body: Readable.from([text], { objectMode: false }),
    type: format === 'json' ? 'application/json; charset=utf-8' : JSON_LINES,
    headers: unpricedHeader(totalsOf(groups).figures.pricing.unpricedCount),
  }
}

interface ResponseOptions {
  readonly groupBy: readonly Dimension[]
  readonly hasCosts: boolean
}

/** The response as one JSON object. */
const usageQueryJson = (groups: readonly UsageGroup[], shown: ResponseOptions): string => {
  const rows = groups.flatMap((group) =>
    group.key === undefined ? [] : [`{"group":${keyJson(group.key, shown)},${periodsJson(group, shown)}}`],
  )
  const others = groups.find(({ key }) => key === undefined)
  const totals = totalsOf(groups)
  return `{"rows":[${rows.join(',')}],"others":${others === undefined ? 'null' : summaryJson(others, shown)},"totals":${summaryJson(totals, shown)}}`
}

/** A row a line; the last has no group where groups lie beyond the limit. */
const usageQueryLines = (groups: readonly UsageGroup[], shown: ResponseOptions): string =>
  groups
    .map((group) =>
      group.key === undefined
        ? `{"group":null,"groups":${group.groups},${periodsJson(group, shown)}}\n`
        : `{"group":${keyJson(group.key, shown)},${periodsJson(group, shown)}}\n`,
    )
    .join('')

type Periods = Pick<UsageGroup, 'figures' | 'previous'>

const periodsJson = ({ figures, previous }: Periods, shown: ResponseOptions): string =>
  `"usage":${figuresJson(figures, shown)}${previous === undefined ? '' : `,"previous":${figuresJson(previous, shown)}`}`

const summaryJson = (group: Periods & Pick<UsageGroup, 'groups'>, shown: ResponseOptions): string =>
  `{"groups":${group.groups},${periodsJson(group, shown)}}`

const keyJson = (key: readonly (string | number)[], { groupBy }: ResponseOptions): string =>
  JSON.stringify(
    Object.fromEntries(
      groupBy.map(({ name }, index) => {
        const value = key[index]!
        return [name, typeof value === 'number' ? instantOf(new Date(value * 1000)) : value]
      }),
    ),
  )

const figuresJson = (figures: UsageFigures, { hasCosts }: ResponseOptions): string => {
  const members = MEASURES.map(
    (measure) => `"${measureName(measure)}":${measureText(measure, figures, hasCosts)}`,
  )
  const { unpriced, unpricedCount } = figures.pricing
  const unpricedText = JSON.stringify(unpricedMembers(unpriced, unpricedCount)).slice(1, -1)
  return `{${members.join(',')}${hasCosts ? `,${unpricedText}` : ''}}`
}

const measureText = (measure: Measure, figures: UsageFigures, hasCosts: boolean): string => {
  if (!isCost(measure)) return String(clamped(figures[measure]))
  return hasCosts && !isUnknownCost(measure, figures) ? decimalText(figures[measure]) : 'null'
}

const totalsOf = (groups: readonly UsageGroup[]): Periods & Pick<UsageGroup, 'groups'> => ({
  groups: groups.reduce((sum, group) => sum + group.groups, 0),
  figures: sumOf(groups.map(({ figures }) => figures)),
  previous: groups.some(({ previous }) => previous !== undefined)
    ? sumOf(groups.flatMap(({ previous }) => previous ?? []))
    : undefined,
})

const sumOf = (all: readonly UsageFigures[]): UsageFigures =>
  ({
    ...Object.fromEntries(
      MEASURES.map((measure) => [measure, all.reduce((sum, figures) => sum + figures[measure], 0n)]),
    ),
    pricing: pricingOf(all),
  }) as unknown as UsageFigures

/** Groups may share models, and name only some of them. */
const pricingOf = (all: readonly UsageFigures[]): UsageFigures['pricing'] => {
  const names = new Set(all.flatMap(({ pricing }) => pricing.unpriced))
  const unnamed = Math.max(0, ...all.map(({ pricing }) => pricing.unpricedCount - pricing.unpriced.length))
  return {
    isPriced: all.some(({ pricing }) => pricing.isPriced),
    unpriced: [...names].sort(),
    unpricedCount: names.size + unnamed,
  }
}

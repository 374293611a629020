import type { Services } from '../../../application/services.js'
import { Readable } from 'node:stream'
import { instantOf } from '../../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { exportUsage, usageBy } from '../../../projections/usage/query/queries.js'
import { readTotals } from '../../../projections/usage/query/open-traces.js'
import { withPreviousRange } from '../../../projections/usage/query/previous-range.js'
import type { UsageQuery } from '../../../projections/usage/query/groups-sql.js'
import { inBody } from '../../server/authorization.js'
import { JSON_LINES, linesOf } from '../../server/json-pages.js'
import type { AnyRoute } from '../../server/route.js'
import { readProject } from '../../server/route-kinds.js'
import { requireBoundedFilter } from '../../calls/filter.js'
import { pricedReads, requestedCosts, unpricedHeader } from '../../calls/requested-costs.js'
import { refuseTooLarge } from '../usage.js'
import { usageLine, usageQueryRequest, usageQueryResponse, type UsageQueryRequest } from './codecs.js'
import { dimensionsOf, orderOf, rangeOf } from './dimensions.js'
import { usageQueryJson, usageQueryLines, type ResponseOptions } from './usage-query-json.js'

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
    headers: unpricedHeader([...new Set(groups.flatMap(({ unpriced }) => unpriced))].sort()),
  }
}

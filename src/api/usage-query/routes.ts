import { Readable } from 'node:stream'
import { instantOf } from '../../domain/codec/instant.js'
import type { Clock } from '../../domain/ports/clock.js'
import { booksFrom } from '../../projections/prices/queries-of-books.js'
import { exportUsage, usageBy, type UsageQuery } from '../../projections/usage-query/queries.js'
import { NO_OPEN_TRACES } from '../../projections/usage-query/usage-rows.js'
import { inBody } from '../authorization.js'
import { JSON_LINES } from '../http/json-pages.js'
import { prefetchFirst } from '../http/prefetch-first.js'
import type { AnyRoute } from '../route.js'
import { readProject, type ProjectReads } from '../route-kinds.js'
import { requireBoundedFilter } from '../tracing/filter.js'
import { requiresCosts, unpricedHeader, waitForPrices } from '../tracing/requested-costs.js'
import { usageQueryRequest, usageQueryResponse } from './codecs.js'
import { dimensionsOf, orderOf, rangeOf } from './dimensions.js'
import { usageQueryJson, usageQueryLines } from './usage-query-json.js'

export interface UsageQueryReads extends ProjectReads {
  readonly ports: { readonly clock: Clock }
}

const EXPORTS = {
  csv: { format: 'CSVWithNames', type: 'text/csv; charset=utf-8' },
  parquet: { format: 'Parquet', type: 'application/vnd.apache.parquet' },
} as const

export const usageQueryRoutes = (reads: UsageQueryReads): readonly AnyRoute[] => {
  const { ports, reading } = reads
  const books = booksFrom(reads.reader, reading.generation)
  return [
    readProject(reads, {
      method: 'post',
      path: '/usage/query',
      summary: 'Usage and cost of the calls that match a filter and a query, by group.',
      body: usageQueryRequest,
      errors: ['forbidden'],
      response: {
        schema: usageQueryResponse.schema,
        headers: ['Tallytree-Position', 'Tallytree-Unpriced-Models'],
      },
      project: inBody,
      handle: ({ body, project: projectId, headers, reader }) => {
        const { filter, include_costs, price_list: list, limit, format } = body
        requireBoundedFilter(filter)
        if (list !== null && !include_costs) throw requiresCosts('include_costs')
        const costs = include_costs ? { list } : null
        const range = rangeOf(body, instantOf(ports.clock.now()))
        const groupBy = dimensionsOf(body, range)
        const orderBy = orderOf(body)
        return {
          waitFor: () => waitForPrices(reads, projectId, costs, headers),
          read: async (position) => {
            const query: UsageQuery = {
              projectId,
              filter,
              operation: body.query?.$expr ?? null,
              position,
              ...(range === undefined ? {} : { began: range }),
              kind: body.usage,
              open: NO_OPEN_TRACES,
              groupBy,
              orderBy,
              limit,
              prices: costs === null ? null : await books({ projectId, list, position }),
              isCompared: body.compare !== null,
            }
            if (format === 'csv' || format === 'parquet') {
              const bytes = await prefetchFirst(exportUsage(reader, query, EXPORTS[format].format))
              return { body: Readable.from(bytes, { objectMode: false }), type: EXPORTS[format].type }
            }
            const groups = await usageBy(reader, query)
            const shown = { groupBy, hasCosts: include_costs }
            return {
              body: Readable.from(
                [format === 'json' ? usageQueryJson(groups, shown) : usageQueryLines(groups, shown)],
                { objectMode: false },
              ),
              type: format === 'json' ? 'application/json; charset=utf-8' : JSON_LINES,
              headers: unpricedHeader([...new Set(groups.flatMap(({ unpriced }) => unpriced))].sort()),
            }
          },
        }
      },
    }),
  ]
}

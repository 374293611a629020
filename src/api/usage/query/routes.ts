import { Readable } from 'node:stream'
import type { Services } from '../../../application/services.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { projectNameOf } from '../../../kernel/ids.js'
import { offsetsOf } from '../../../domain/usage/zone.js'
import { usageBy, usageParquet } from '../../../projections/usage/query/queries.js'
import { readTotals } from '../../../projections/usage/query/open-traces.js'
import { readUsedModels } from '../../../projections/usage/query/used-models.js'
import { withPreviousRange } from '../../../projections/usage/query/previous-range.js'
import type { UsageQuery } from '../../../projections/usage/query/groups-sql.js'
import { invalidField } from '../../../application/failure.js'
import { inBody } from '../../server/authorization.js'
import { JSON_LINES, linesOf } from '../../server/json-pages.js'
import { answering, type AnyRoute } from '../../server/route.js'
import { readProject } from '../../server/route-kinds.js'
import { requireBoundedFilter } from '../../../application/calls/filter.js'
import { pricedReads, requestedCosts, unpricedHeader } from '../../calls/requested-costs.js'
import { refuseTooLarge } from '../../../application/calls/too-large.js'
import { usageLine, usageQueryRequest, usageQueryResponse, type UsageQueryRequest } from './codecs.js'
import { dimensionsOf, orderOf, rangeOf } from './dimensions.js'
import { totalsOf, usageCsv, usageQueryJson, usageQueryLines, type AnswerOptions } from './answers.js'

const CSV = 'text/csv; charset=utf-8'
/** Excel reads a file without it in the code page of the machine. */
const BYTE_ORDER_MARK = '\ufeff'
const PARQUET = 'application/vnd.apache.parquet'

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
      response: answering(usageQueryResponse, {
        alternatives: {
          [JSON_LINES]: linesOf('With `format: ndjson`: one group per line.', usageLine.schema),
          'text/csv': { type: 'string', description: 'With `format: csv`: a header and one line per group.' },
          [PARQUET]: { type: 'string', format: 'binary', description: 'With `format: parquet`.' },
        },
        headers: ['Tallytree-Position', 'Tallytree-Unpriced-Models'],
      }),
      project: inBody,
      handle: (request) => {
        const { body, project: projectId, reader } = request
        const { filter, include_costs, price_list: list, limit, format, byte_order_mark } = body
        if (byte_order_mark && format !== 'csv')
          throw invalidField(['byte_order_mark'], 'value_error', 'Value error, only for the format csv')
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
            const shown = { groupBy, hasCosts: include_costs, offset: offsetsOf(body.timezone)! }
            const isCompared = body.compare !== null
            return readUsedModels(reader, withPreviousRange(selection, isCompared), (whole) =>
              readTotals(reader, whole, (open) =>
                respond(
                  reader,
                  { ...whole, ...(range && { began: range }), open, groupBy, orderBy, limit, isCompared },
                  format,
                  byte_order_mark ? BYTE_ORDER_MARK : '',
                  shown,
                ),
              ),
            ).catch(refuseTooLarge)
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
  mark: string,
  shown: AnswerOptions,
) => {
  if (format === 'parquet') {
    const chunks = await usageParquet(reader, query)
    return { ...file(chunks, PARQUET), headers: downloadedAs(query.projectId, 'parquet') }
  }
  const groups = await usageBy(reader, query)
  if (format === 'csv')
    return { ...file([mark, usageCsv(groups, shown)], CSV), headers: downloadedAs(query.projectId, 'csv') }
  return {
    ...(format === 'json'
      ? file([usageQueryJson(groups, shown)], 'application/json; charset=utf-8')
      : file([usageQueryLines(groups, shown)], JSON_LINES)),
    headers: unpricedHeader(totalsOf(groups).figures.pricing.unpricedCount),
  }
}

const file = (chunks: Iterable<string | Uint8Array>, type: string) => ({
  body: Readable.from(chunks, { objectMode: false }),
  type,
})

/** Headers are ASCII, names of projects are not. */
const downloadedAs = (projectId: string, ending: string) => ({
  'Content-Disposition': `attachment; filename="usage-${projectNameOf(projectId).replace(/[^A-Za-z0-9._-]/g, '_')}.${ending}"`,
})

import { Readable } from 'node:stream'
import type { Services } from '../../../application/services.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import type { Position } from '../../../kernel/ports/event-store.js'
import { prefetchFirst } from '../../../kernel/prefetch-first.js'
import { entityOf, projectNameOf } from '../../../kernel/ids.js'
import { erasedCalls } from '../../../projections/erasures/without-figures.js'
import { erasedHeader } from '../../calls/erased-calls.js'
import { usageBy, type UsageGroup } from '../../../projections/usage/query/queries.js'
import { readTotals } from '../../../projections/usage/query/open-traces.js'
import { readUsedModels } from '../../../projections/usage/query/used-models.js'
import { withPreviousRange } from '../../../projections/usage/query/previous-range.js'
import type { UsageQuery } from '../../../projections/usage/query/groups-sql.js'
import { invalidField } from '../../../application/failure.js'
import { JSON_LINES, linesOf } from '../../server/json-pages.js'
import { answering, type AnyRoute } from '../../server/route.js'
import { readProject } from '../../server/route-kinds.js'
import { teamUsage } from '../../../application/usage/team-usage.js'
import { requireBoundedFilter } from '../../../application/calls/filter.js'
import { pricedReads, requestedCosts, unpricedHeader } from '../../calls/requested-costs.js'
import { refuseTooLarge } from '../../../application/calls/too-large.js'
import { requestedOffset } from '../timezone.js'
import { usageLine, usageQueryRequest, usageQueryResponse, type UsageQueryRequest } from './codecs.js'
import { dimensionsOf, orderOf, rangeOf } from './dimensions.js'
import {
  totalsOf,
  usageCsv,
  usageParquet,
  usageQueryJson,
  usageQueryLines,
  type AnswerOptions,
} from './answers.js'

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
        headers: ['Tallytree-Position', 'Tallytree-Unpriced-Models', 'Tallytree-Erased-Calls'],
      }),
      project: scopeOf,
      handle: (request) => {
        const { body, project: scope, reader } = request
        const { filter, include_costs, price_list: list, limit, format, byte_order_mark } = body
        if (byte_order_mark && format !== 'csv')
          throw invalidField(['byte_order_mark'], 'value_error', 'Value error, only for the format csv')
        requireBoundedFilter(filter)
        const costs = requestedCosts(include_costs, list)
        const range = rangeOf(body, instantOf(services.clock.now()))
        const groupBy = dimensionsOf(body, range)
        const orderBy = orderOf(body)
        const isCompared = body.compare !== null
        const readOf = async <A>(
          project: string,
          position: Position,
          limit: number,
          read: (query: UsageQuery) => Promise<A>,
        ): Promise<A> => {
          const selection = {
            ...{ projectId: project, filter, position, kind: body.usage },
            operation: body.query?.$expr ?? null,
            ...(range === undefined ? {} : { began: range }),
            prices: await priced({ ...request, project }, costs).pricesAt(position),
          }
          const asked = { ...(range && { began: range }), groupBy, orderBy, limit, isCompared }
          return readUsedModels(reader, withPreviousRange(selection, isCompared), (whole) =>
            readTotals(reader, whole, (open) => read({ ...whole, ...asked, open })),
          )
        }
        const shown = { groupBy, hasCosts: include_costs, isCompared, offset: requestedOffset(body.timezone) }
        return {
          waitFor: priced(request, costs).waitFor,
          read: async (position) => {
            const usageOf = (project: string, most: number) =>
              readOf(project, position, most, (query) => usageBy(reader, query))
            const groups = await (
              body.team === null
                ? usageOf(scope, limit)
                : teamUsage(reader, body.team, usageOf, { groupBy, orderBy, limit })
            ).catch(refuseTooLarge)
            const erased = await erasedCalls(reader, scope, position, range)
            if (format === 'parquet')
              return {
                ...file(await prefetchFirst(usageParquet(reader, groups, shown)), PARQUET),
                headers: { ...downloadedAs(scope, 'parquet'), ...erasedHeader(erased) },
              }
            const mark = byte_order_mark ? BYTE_ORDER_MARK : ''
            return respond(scope, groups, format, mark, { ...shown, erased })
          },
        }
      },
    }),
  ]
}

/** The project, or `team/` for all projects of a team. */
const scopeOf = ({ body: { project_id, team } }: { readonly body: UsageQueryRequest }): string => {
  if ((project_id === null) === (team === null))
    throw invalidField(['project_id'], 'value_error', 'Value error, either project_id or team is required')
  return project_id ?? `${team}/`
}

const respond = (
  scope: string,
  groups: readonly UsageGroup[],
  format: Exclude<UsageQueryRequest['format'], 'parquet'>,
  mark: string,
  shown: AnswerOptions & { readonly erased: number },
) => {
  const { erased } = shown
  if (format === 'csv')
    return {
      ...file([mark, usageCsv(groups, shown)], CSV),
      headers: { ...downloadedAs(scope, 'csv'), ...erasedHeader(erased) },
    }
  return {
    ...(format === 'json'
      ? file([usageQueryJson(groups, shown, erased)], 'application/json; charset=utf-8')
      : file([usageQueryLines(groups, shown)], JSON_LINES)),
    headers: { ...unpricedHeader(totalsOf(groups).figures.pricing.unpricedCount), ...erasedHeader(erased) },
  }
}

const file = (chunks: Iterable<string | Uint8Array> | AsyncIterable<Uint8Array>, type: string) => ({
  body: Readable.from(chunks, { objectMode: false }),
  type,
})

/** Headers are ASCII, names of projects are not. */
const downloadedAs = (scope: string, ending: string) => ({
  'Content-Disposition': `attachment; filename="usage-${(projectNameOf(scope) || entityOf(scope)).replace(/[^A-Za-z0-9._-]/g, '_')}.${ending}"`,
})

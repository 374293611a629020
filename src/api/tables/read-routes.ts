import { Readable } from 'node:stream'
import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { int64, jsonObject, string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { isDigest } from '../../domain/table/events.js'
import { tableBytes, tableOrder, tableStats } from '../../projections/tables/queries.js'
import { inBody } from '../authorization.js'
import { Failure } from '../failure.js'
import { prefetchFirst } from '../http/prefetch-first.js'
import { asArray, asLines, JSON_LINES, linesOf } from '../http/json-pages.js'
import type { AnyRoute, RouteRequest } from '../route.js'
import { readProject } from '../route-kinds.js'
import { tableQuery, tableQueryStats, tableQueryStatsBatch, type TableQuery } from './query-codecs.js'
import { pagesOfRows } from './rows-json.js'
import { sortFieldsOf } from './sort-fields.js'
import { noSuchTable } from './stored-table.js'
import type { Tables } from './tables.js'

const MAX_TABLES = 1000

/** The engine is slow with longer lists of values. */
const MAX_ROWS = 8192

const requireFew = (name: string, values: readonly string[], most: number): void => {
  if (values.length > most)
    throw new Failure('bad-request', `${name} has more than ${most} values. Split it into several requests.`)
}

const tableRow = open('TableRowResponse', {
  required: { digest: string, val: jsonObject, original_index: int64 },
})

const tableCount = open('TableStats', {
  required: { count: int64, digest: string },
  optional: { storage_size_bytes: nullable(int64) },
})

export const tableReadRoutes = (tables: Tables): readonly AnyRoute[] => {
  const statsOf = async (
    reader: ClickHouseReader,
    projectId: string,
    digests: readonly string[],
    position: Position,
  ) => {
    const stats = await tableStats(reader)(projectId, digests.filter(isDigest), position)
    return new Map(stats.map(({ digest, row_count }) => [digest, row_count]))
  }

  const pagesOf = ({ body, reader }: Pick<RouteRequest<TableQuery>, 'body'> & Pick<Tables, 'reader'>) => {
    const { project_id: projectId, digest, filter, sort_by, limit, offset } = body
    const sortBy = sortFieldsOf(sort_by)
    const wanted = filter?.row_digests ?? []
    requireFew('filter.row_digests', wanted, MAX_ROWS)
    return async (position: Position) => {
      if (!(await statsOf(reader, projectId, [digest], position)).has(digest)) throw noSuchTable()
      const order = await tableOrder(reader)({
        projectId,
        tableDigest: digest,
        rowDigests: wanted.length === 0 ? null : wanted.filter(isDigest),
        sortBy,
        limit,
        offset: offset ?? 0,
      })
      return prefetchFirst(pagesOfRows(reader, projectId, order, position))
    }
  }

  return [
    readProject(tables, {
      method: 'post',
      path: '/table/query',
      summary: 'Read the rows of a table in one response.',
      body: tableQuery,
      response: open('TableQueryResponse', { required: { rows: arrayOf(tableRow) } }),
      project: inBody,
      handle: (request) => {
        const pages = pagesOf(request)
        return async (position) => ({
          body: Readable.from(asArray('rows', await pages(position))),
          type: 'application/json; charset=utf-8',
        })
      },
    }),
    readProject(tables, {
      method: 'post',
      path: '/table/query_stream',
      summary: 'Stream the rows of a table, one per line.',
      body: tableQuery,
      response: { schema: linesOf('One row per line.', tableRow.schema), type: JSON_LINES },
      project: inBody,
      handle: (request) => {
        const pages = pagesOf(request)
        return async (position) => ({
          body: Readable.from(asLines(await pages(position))),
          type: JSON_LINES,
        })
      },
    }),
    readProject(tables, {
      method: 'post',
      path: '/table/query_stats',
      summary: 'Count the rows of a table.',
      body: tableQueryStats,
      response: open('TableQueryStatsResponse', { required: { count: int64 } }),
      project: inBody,
      handle:
        ({ body: { digest }, project, reader }) =>
        async (position) => {
          const count = (await statsOf(reader, project, [digest], position)).get(digest)
          if (count === undefined) throw noSuchTable()
          return { body: { count } }
        },
    }),
    readProject(tables, {
      method: 'post',
      path: '/table/query_stats_batch',
      summary: 'Count the rows of several tables; missing tables are omitted.',
      body: tableQueryStatsBatch,
      response: open('TableQueryStatsBatchResponse', { required: { tables: arrayOf(tableCount) } }),
      project: inBody,
      handle: ({ body, project, reader }) => {
        const digests = [...new Set(body.digests ?? [])]
        requireFew('digests', digests, MAX_TABLES)
        return async (position) => {
          const counts = await statsOf(reader, project, digests, position)
          const sizes =
            body.include_storage_size && counts.size > 0
              ? await tableBytes(reader)(project, [...counts.keys()])
              : null
          const tables = digests.flatMap((digest) => {
            const count = counts.get(digest)
            if (count === undefined) return []
            return [{ count, digest, storage_size_bytes: sizes === null ? null : (sizes.get(digest) ?? 0) }]
          })
          return { body: { tables } }
        }
      },
    }),
  ]
}

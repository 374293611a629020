import { Readable } from 'node:stream'
import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { int64, jsonObject, string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import type { Position } from '../../domain/ports/event-store.js'
import { isDigest } from '../../domain/table/events.js'
import { tableBytes, tableOrder, tableStats } from '../../projections/tables/queries.js'
import { readsProject } from '../conduct.js'
import { Failure } from '../failure.js'
import { begun } from '../http/begun.js'
import { readerOfRequest } from '../http/reader-of-request.js'
import { asArray, asLines, JSON_LINES, linesOf } from '../http/json-pages.js'
import { requireReading } from '../projects/access.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { tableQuery, tableQueryStats, tableQueryStatsBatch, type TableQuery } from './query-codecs.js'
import { pagesOfRows } from './rows-json.js'
import { sortFieldsOf } from './sort-fields.js'
import { noSuchTable } from './stored-table.js'
import type { Tables } from './tables.js'

const MAX_TABLES = 1000

/** The engine takes a longer list of values only very slowly. */
const MAX_ROWS = 8192

const requireFew = (name: string, values: readonly string[], most: number): void => {
  if (values.length > most)
    throw new Failure('bad-request', `${name} has more than ${most} values. Ask in several requests.`)
}

const tableRow = open('TableRowResponse', {
  required: { digest: string, val: jsonObject, original_index: int64 },
})

const tableCount = open('TableStats', {
  required: { count: int64, digest: string },
  optional: { storage_size_bytes: nullable(int64) },
})

export const tableReadRoutes = ({ teams, reading, reader }: Tables): readonly AnyRoute[] => {
  const ready = (asked: Asked<{ readonly project_id: string }>): Promise<Position> => {
    requireReading(teams, asked.principal, asked.body.project_id)
    return reading.ready(asked.body.project_id, asked.headers)
  }

  const statsOf = async (projectId: string, digests: readonly string[], position: Position) => {
    const stats = await tableStats(reader)(projectId, digests.filter(isDigest), position)
    return new Map(stats.map(({ digest, row_count }) => [digest, row_count]))
  }

  const rowsOf = async (asked: Asked<TableQuery>) => {
    const { project_id: projectId, digest, filter, sort_by, limit, offset } = asked.body
    const sortBy = sortFieldsOf(sort_by)
    const wanted = filter?.row_digests ?? []
    requireFew('filter.row_digests', wanted, MAX_ROWS)
    const position = await ready(asked)
    if (!(await statsOf(projectId, [digest], position)).has(digest)) throw noSuchTable()
    const ownReader = readerOfRequest(reader, asked.onGone)
    const order = await tableOrder(ownReader)({
      projectId,
      tableDigest: digest,
      rowDigests: wanted.length === 0 ? null : wanted.filter(isDigest),
      sortBy,
      limit,
      offset: offset ?? 0,
    })
    return { pages: await begun(pagesOfRows(ownReader, projectId, order, position)), position }
  }

  return [
    route({
      method: 'post',
      path: '/table/query',
      summary: 'Read the rows of a table, in one answer.',
      body: tableQuery,
      ...readsProject,
      answer: open('TableQueryResponse', { required: { rows: arrayOf(tableRow) } }),
      handle: async (asked) => {
        const { pages, position } = await rowsOf(asked)
        return {
          body: Readable.from(asArray('rows', pages)),
          type: 'application/json; charset=utf-8',
          position,
        }
      },
    }),
    route({
      method: 'post',
      path: '/table/query_stream',
      summary: 'Read the rows of a table, one a line.',
      body: tableQuery,
      ...readsProject,
      answer: { schema: linesOf('One row a line.', tableRow.schema), type: JSON_LINES },
      handle: async (asked) => {
        const { pages, position } = await rowsOf(asked)
        return { body: Readable.from(asLines(pages)), type: JSON_LINES, position }
      },
    }),
    route({
      method: 'post',
      path: '/table/query_stats',
      summary: 'Count the rows of a table.',
      body: tableQueryStats,
      ...readsProject,
      answer: open('TableQueryStatsResponse', { required: { count: int64 } }),
      handle: async (asked) => {
        const { project_id, digest } = asked.body
        const position = await ready(asked)
        const count = (await statsOf(project_id, [digest], position)).get(digest)
        if (count === undefined) throw noSuchTable()
        return { body: { count }, position }
      },
    }),
    route({
      method: 'post',
      path: '/table/query_stats_batch',
      summary: 'Count the rows of several tables; those that are not there are left out.',
      body: tableQueryStatsBatch,
      ...readsProject,
      answer: open('TableQueryStatsBatchResponse', { required: { tables: arrayOf(tableCount) } }),
      handle: async (asked) => {
        const { project_id, include_storage_size } = asked.body
        const digests = [...new Set(asked.body.digests ?? [])]
        requireFew('digests', digests, MAX_TABLES)
        const position = await ready(asked)
        const counts = await statsOf(project_id, digests, position)
        const sizes =
          include_storage_size && counts.size > 0
            ? await tableBytes(reader)(project_id, [...counts.keys()])
            : null
        const tables = digests.flatMap((digest) => {
          const count = counts.get(digest)
          if (count === undefined) return []
          return [{ count, digest, storage_size_bytes: sizes === null ? null : (sizes.get(digest) ?? 0) }]
        })
        return { body: { tables }, position }
      },
    }),
  ]
}

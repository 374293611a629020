import type { Services } from '../../application/services.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { int64, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { inPages } from '../../kernel/pages.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { isDigest } from '../../domain/tables/table.js'
import {
  rowsByDigest,
  tableBytes,
  tableOrder,
  tableStats,
  type TableEntry,
} from '../../projections/tables/queries.js'
import { inBody } from '../server/authorization.js'
import { Failure } from '../../application/failure.js'
import { JSON_LINES, linesOf, streamedArray, streamedLines } from '../server/json-pages.js'
import type { AnyRoute, ResponseSpec } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { sortFieldsOf, tableQuery, tableQueryStats, tableQueryStatsBatch, type TableQuery } from './codecs.js'

export const tableReadRoutes = (services: Pick<Services, 'access' | 'reading'>): readonly AnyRoute[] => [
  rowsRoute(services, {
    path: '/table/query',
    summary: 'Read the rows of a table in one response.',
    response: {
      schema: open('TableQueryResponse', { required: { rows: arrayOf(tableRow) } }).schema,
      type: 'application/json',
    },
    streamed: streamedArray('rows'),
  }),
  rowsRoute(services, {
    path: '/table/query_stream',
    summary: 'Stream the rows of a table, one per line.',
    response: { schema: linesOf('One row per line.', tableRow.schema), type: JSON_LINES },
    streamed: streamedLines,
  }),
  countRoute(services),
  countsRoute(services),
]

/** The engine is slow with longer lists of values. */
const MAX_ROWS = 8192
const MAX_TABLES = 1000

const checkMaxItems = (name: string, values: readonly string[], most: number): void => {
  if (values.length > most)
    throw new Failure('bad-request', `${name} has more than ${most} values. Split it into several requests.`)
}

const tableRow = open('TableRowResponse', {
  required: { digest: string, val: jsonObject, original_index: int64 },
})

interface RowsRoute {
  readonly path: string
  readonly summary: string
  /** The rows are written as they are stored. */
  readonly response: Pick<ResponseSpec, 'schema'> & { readonly type: string }
  readonly streamed: typeof streamedLines
}

const rowsRoute = (reads: Pick<Services, 'access' | 'reading'>, { streamed, ...spec }: RowsRoute): AnyRoute =>
  readProject(reads, {
    ...spec,
    method: 'post',
    body: tableQuery,
    project: inBody,
    handle: ({ body, reader }) => {
      const sortBy = sortFieldsOf(body.sort_by)
      const rowDigests = body.filter?.row_digests ?? []
      checkMaxItems('filter.row_digests', rowDigests, MAX_ROWS)
      return async (position) => {
        const entries = await entriesOf(reader, body, rowDigests, sortBy, position)
        return streamed(pagesOfRows(reader, body.project_id, entries, position))
      }
    },
  })

const entriesOf = async (
  reader: ClickHouseReader,
  { project_id: projectId, digest: tableDigest, limit, offset }: TableQuery,
  rowDigests: readonly string[],
  sortBy: ReturnType<typeof sortFieldsOf>,
  position: Position,
): Promise<readonly TableEntry[]> => {
  // As in Weave, an unknown table has no rows, here and in its counts.
  if (!(await countsOf(reader, projectId, [tableDigest], position)).has(tableDigest)) return []
  return tableOrder(reader)({
    projectId,
    tableDigest,
    rowDigests: rowDigests.length === 0 ? null : rowDigests.filter(isDigest),
    sortBy,
    limit,
    offset: offset ?? 0,
  })
}

/** Rows are read in pages, so that memory stays bounded by one page. */
const PAGE = { items: 8192, weight: 8 * 1024 * 1024 }

/** Serialises pages of rows as `{digest, val, original_index}`. */
async function* pagesOfRows(
  reader: ClickHouseReader,
  projectId: string,
  entries: readonly TableEntry[],
  position: Position,
): AsyncGenerator<readonly string[]> {
  for (const page of inPages(entries, ({ bytes }) => bytes, PAGE)) {
    const digests = page.map(({ digest }) => digest)
    const contents = await rowsByDigest(reader)(projectId, digests, position)
    yield page.map(({ index, digest }) => {
      const val = contents.get(digest)
      if (val === undefined) throw new Error('a row of a table is missing from the read model')
      return `{"digest":"${digest}","val":${val},"original_index":${index}}`
    })
  }
}

const countsOf = async (
  reader: ClickHouseReader,
  projectId: string,
  digests: readonly string[],
  position: Position,
): Promise<ReadonlyMap<string, number>> => {
  const stats = await tableStats(reader)(projectId, digests.filter(isDigest), position)
  return new Map(stats.map(({ digest, row_count }) => [digest, row_count]))
}

const countRoute = (services: Pick<Services, 'access' | 'reading'>): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/table/query_stats',
    summary: 'Count the rows of a table.',
    body: tableQueryStats,
    response: open('TableQueryStatsResponse', { required: { count: int64 } }),
    project: inBody,
    handle:
      ({ body: { digest }, project, reader }) =>
      async (position) => {
        const counts = await countsOf(reader, project, [digest], position)
        return { body: { count: counts.get(digest) ?? 0 } }
      },
  })

const tableCount = open('TableStats', {
  required: { count: int64, digest: string },
  optional: { storage_size_bytes: nullable(int64) },
})

const countsRoute = (services: Pick<Services, 'access' | 'reading'>): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/table/query_stats_batch',
    summary: 'Count the rows of several tables; missing tables are omitted.',
    body: tableQueryStatsBatch,
    response: open('TableQueryStatsBatchResponse', { required: { tables: arrayOf(tableCount) } }),
    project: inBody,
    handle: ({ body, project, reader }) => {
      const digests = [...new Set(body.digests ?? [])]
      checkMaxItems('digests', digests, MAX_TABLES)
      return async (position) => {
        const counts = await countsOf(reader, project, digests, position)
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
  })

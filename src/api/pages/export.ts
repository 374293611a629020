import { Readable } from 'node:stream'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import { callsFilter, requireBoundedFilter } from '../../application/calls/filter.js'
import { Failure } from '../../application/failure.js'
import type { Services } from '../../application/services.js'
import { query } from '../../domain/query/query.js'
import { nullable } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { int64, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId, projectNameOf } from '../../kernel/ids.js'
import { prefetchFirst } from '../../kernel/prefetch-first.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { parquetOf } from '../../projections/parquet.js'
import { cachedBooks } from '../../projections/prices/cached-books.js'
import { usageFrom } from '../../projections/usage/queries.js'
import { matchingIds } from '../calls/matching-ids.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { usedUsage } from '../calls/usage-fields.js'
import { JSON_LINES } from '../server/json-pages.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, readProject } from '../server/route-kinds.js'
import { accessToProject, inBody } from '../server/authorization.js'
import { sortBy } from '../server/sorted-range.js'
import { csvLines, csvText, type CsvCell } from '../usage/query/csv.js'
import { EXPORTED, exportedRows, type ExportedRow } from './exported-rows.js'

const TYPES = {
  csv: 'text/csv; charset=utf-8',
  jsonl: JSON_LINES,
  parquet: 'application/vnd.apache.parquet',
} as const
type Format = keyof typeof TYPES
const FORMATS = Object.keys(TYPES) as [Format, ...Format[]]

const MAX_ROWS = 100_000
/** The usage of all calls is in memory while they are selected by it. */
const MAX_ROWS_BY_USAGE = 10_000
/** The engine takes the rows of a Parquet file at once. */
const MAX_PARQUET_CHARACTERS = 48 * 1024 * 1024

const LINK_MS = 60_000
/** Servers and proxies refuse longer addresses. */
const MAX_LINK = 6000

const selection = {
  required: { project_id: projectId, format: oneOf(...FORMATS) },
  optional: { filter: nullable(callsFilter), query: nullable(query), sort_by: sortBy },
} as const
const exportRequest = closed('ExportRequest', selection)
/** Holds the request itself, so that every process can answer it. It gives no access: that of who follows it is checked. */
const linked = closed('LinkedExport', {
  required: { ...selection.required, until: instant },
  optional: selection.optional,
})
type LinkedExport = t.TypeOf<typeof linked>

const linkOf = (request: object): string => deflateRawSync(JSON.stringify(request)).toString('base64url')

const requestIn = (link: string): LinkedExport => {
  try {
    const text = inflateRawSync(Buffer.from(link, 'base64url'), { maxOutputLength: 1_000_000 }).toString()
    const decoded = linked.decode(JSON.parse(text))
    if (E.isRight(decoded)) return decoded.right
  } catch {
    // Not one of ours.
  }
  throw new Failure('not-found', 'This is no link of an export.')
}

const limitOf = ({ query: asked, sort_by }: Pick<LinkedExport, 'query' | 'sort_by'>): number =>
  usedUsage(asked?.$expr ?? null, sort_by ?? []).isUsed ? MAX_ROWS_BY_USAGE : MAX_ROWS

export const exportRoutes = (
  services: Pick<Services, 'access' | 'reading' | 'clock' | 'maxTraceCalls'>,
): readonly AnyRoute[] => {
  const { reading, clock, maxTraceCalls } = services
  const books = cachedBooks(reading.generation)
  const usage = usageFrom(reading.generation)
  return [
    readDirectory({
      method: 'post',
      path: '/api/pages/export',
      summary:
        'A link to a file of the calls of a list, at most `limit` of them in its order, valid for one minute.',
      body: exportRequest,
      errors: ['too-large'],
      response: open('ExportLink', { required: { url: string, expires_at: instant, limit: int64 } }),
      authorization: accessToProject(services.access, inBody),
      handle: async ({ body }) => {
        requireBoundedFilter(body.filter)
        const until = instantOf(new Date(clock.now().getTime() + LINK_MS))
        const link = linkOf({ ...body, until })
        if (link.length > MAX_LINK)
          throw new Failure('too-large', 'The filter is too long for a link. Use POST /calls/stream_query.')
        return { body: { url: `/api/pages/export/${link}`, expires_at: until, limit: limitOf(body) } }
      },
    }),
    readProject(services, {
      method: 'get',
      path: '/api/pages/export/:link',
      summary: 'The file of a link from `POST /api/pages/export`.',
      errors: ['forbidden'],
      response: {
        schema: { type: 'string', description: 'With `format: csv`: a header and one line per call.' },
        type: TYPES.csv,
        alternatives: {
          [TYPES.jsonl]: { type: 'string', description: 'With `format: jsonl`: one call per line.' },
          [TYPES.parquet]: { type: 'string', format: 'binary', description: 'With `format: parquet`.' },
        },
      },
      project: ({ params }) => requestIn(params['link'] ?? '').project_id,
      handle: (request) => {
        const asked = requestIn(request.params['link'] ?? '')
        if (asked.until < instantOf(clock.now()))
          throw new Failure('not-found', 'The link of this export has expired. Export again.')
        const body = { ...asked, limit: limitOf(asked), offset: null, expand_columns: null }
        const { pagesAt } = matchingIds({ ...services, books }, { ...request, body })
        const { reader, project, memory } = request
        const exporting = { reader, project, memory, maxTraceCalls, usage }
        const written = async (position: Position) => {
          const rows = exportedRows(exporting, pagesAt(position), position)
          if (asked.format === 'csv') return csvOf(await prefetchFirst(rows))
          if (asked.format === 'jsonl') return linesOf(await prefetchFirst(rows))
          return parquetOf(reader, PARQUET_TYPES, await listsOf(rows))
        }
        return {
          waitFor: () => waitForPrices(reading, request, { list: null }),
          read: async (position) => ({
            body: Readable.from(await written(position), { objectMode: false }),
            type: TYPES[asked.format],
            headers: {
              'Content-Disposition': `attachment; filename="${fileNameOf(project)}.${asked.format}"`,
            },
          }),
        }
      },
    }),
  ]
}

/** Headers are ASCII, names of projects are not. */
const fileNameOf = (project: string): string =>
  `calls-${projectNameOf(project).replace(/[^A-Za-z0-9._-]/g, '_')}`

const NAMES = Object.keys(EXPORTED)
const PARQUET_TYPES = Object.fromEntries(NAMES.map((name) => [name, EXPORTED[name]!.type]))

const cellOf = (value: string | number | null): CsvCell =>
  value === null ? null : typeof value === 'number' ? { plain: String(value) } : { text: value }

async function* csvOf(pages: AsyncIterable<readonly ExportedRow[]>): AsyncGenerator<string> {
  yield csvText(NAMES, [])
  for await (const rows of pages) yield csvLines(rows.map((row) => row.map(cellOf)))
}

async function* linesOf(pages: AsyncIterable<readonly ExportedRow[]>): AsyncGenerator<string> {
  for await (const rows of pages) yield rows.map((row) => `${lineOf(row)}\n`).join('')
}

const lineOf = (row: ExportedRow): string => {
  const members = NAMES.map((name, index) => {
    const value = row[index] ?? null
    const isText = EXPORTED[name]!.isJson && typeof value === 'string'
    return `${JSON.stringify(name)}:${isText ? value : JSON.stringify(value)}`
  })
  return `{${members.join(',')}}`
}

/** The rows as JSON lists. */
const listsOf = async (pages: AsyncIterable<readonly ExportedRow[]>): Promise<readonly string[]> => {
  const lists: string[] = []
  let characters = 0
  for await (const rows of pages) {
    const text = JSON.stringify(rows)
    characters += text.length
    if (characters > MAX_PARQUET_CHARACTERS)
      throw new Failure('too-costly', 'The calls are too large for a Parquet file. Export fewer, or as CSV.')
    lists.push(text)
  }
  return lists
}

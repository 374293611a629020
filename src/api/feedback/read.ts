import { Readable } from 'node:stream'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import {
  countFeedback,
  feedbackById,
  feedbackIds,
  type FeedbackId,
  type OrderBy,
  type StoredFeedback,
} from '../../projections/feedback/queries.js'
import { inBody } from '../authorization.js'
import { invalidField } from '../failure.js'
import { prefetchFirst } from '../http/prefetch-first.js'
import type { AnyRoute } from '../route.js'
import { readProject, type ProjectReads } from '../route-kinds.js'
import { pages } from '../tracing/pages.js'
import { feedbackQueried, feedbackQuery, type FeedbackQuery } from './codecs.js'
import { rowsOf } from './row-json.js'

const MAX_FIELDS = 1000
const MAX_SORT_FIELDS = 8

/** `/feedback/query` returns a page and the total count. */
export const readRoute = (reads: ProjectReads): AnyRoute =>
  readProject(reads, {
    method: 'post',
    path: '/feedback/query',
    summary: 'Read the feedback that matches a query.',
    body: feedbackQuery,
    errors: ['forbidden'],
    response: feedbackQueried,
    project: inBody,
    handle: ({ body, project: projectId, reader }) => {
      const { fields, query, limit, offset } = body
      requireFew(fields ?? [], 'fields', MAX_FIELDS)
      const row = rowsOf(fields)
      const order = orderOf(body.sort_by)
      return async (position) => {
        const asked = { projectId, operation: query?.$expr ?? null, position }
        const ids = await feedbackIds(reader)({ ...asked, order, limit, offset })
        const isAll = limit === null && (offset ?? 0) === 0
        const total = isAll ? ids.length : await countFeedback(reader)(asked)
        const rows = await prefetchFirst(rowsOfPages(reader, projectId, ids, position, row))
        return { body: Readable.from(asAnswer(rows, total)), type: 'application/json; charset=utf-8' }
      }
    },
  })

/** The default order is by time. If a field is repeated, its first occurrence counts. */
const orderOf = (asked: FeedbackQuery['sort_by']): readonly OrderBy[] => {
  if (asked === null) return [{ field: 'created_at', direction: 'asc' }]
  const order = new Map<string, OrderBy>()
  for (const one of asked) if (!order.has(one.field)) order.set(one.field, one)
  requireFew([...order.keys()], 'sort_by', MAX_SORT_FIELDS)
  return [...order.values()]
}

const requireFew = (names: readonly string[], field: string, most: number): void => {
  if (names.length > most)
    throw invalidField([field], 'too_long', `List should have at most ${most} items after validation`)
}

async function* rowsOfPages(
  reader: ClickHouseReader,
  projectId: string,
  ids: readonly FeedbackId[],
  position: Position,
  row: (feedback: StoredFeedback) => string,
): AsyncGenerator<readonly string[]> {
  for (const page of pages(ids)) {
    const found = await feedbackById(reader)(
      projectId,
      page.map(({ id }) => id),
      position,
    )
    yield found.map(row)
  }
}

async function* asAnswer(rows: AsyncIterable<readonly string[]>, total: number): AsyncGenerator<string> {
  let separator = ''
  yield '{"result":['
  for await (const page of rows) {
    if (page.length === 0) continue
    yield separator + page.join(',')
    separator = ','
  }
  yield `],"total_count":${total}}`
}

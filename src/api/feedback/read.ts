import type { Services } from '../../application/services.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import {
  countFeedback,
  feedbackById,
  feedbackIds,
  fieldPicker,
  type FeedbackId,
  type StoredFeedback,
} from '../../projections/feedback/queries.js'
import { inBody } from '../server/authorization.js'
import { streamed } from '../server/json-pages.js'
import { invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { orderOf } from '../server/sorted-range.js'
import { readProject } from '../server/route-kinds.js'
import { pages } from '../../application/calls/pages.js'
import { feedbackQueried, feedbackQuery } from './codecs.js'

const MAX_FIELDS = 1000

/** `/feedback/query` returns a page and the total count. */
export const feedbackReadRoute = (services: Pick<Services, 'access' | 'reading'>): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/feedback/query',
    summary: 'Read the feedback that matches a query.',
    body: feedbackQuery,
    errors: ['forbidden'],
    response: feedbackQueried,
    project: inBody,
    handle: ({ body, project: projectId, reader }) => {
      const { fields, query, limit, offset } = body
      requireFewFields(fields ?? [])
      const isCount = fields?.length === 1 && fields[0] === COUNT
      const row = rowsOf(isCount ? null : fields)
      const order = orderOf(body.sort_by, [{ field: 'created_at', direction: 'asc' }])
      return async (position) => {
        const selection = { projectId, operation: query?.$expr ?? null, position }
        if (isCount) {
          const count = await countFeedback(reader)(selection)
          return { body: { result: [{ [COUNT]: count }], total_count: count } }
        }
        const ids = await feedbackIds(reader)({ ...selection, order, limit, offset })
        const isAll = limit === null && (offset ?? 0) === 0
        const total = isAll ? ids.length : await countFeedback(reader)(selection)
        const rows = rowsOfPages(reader, projectId, ids, position, row)
        return streamed(rows, (texts) => asResponse(texts, total))
      }
    },
  })

/** The field by which the Python SDK asks for the number of matches alone. */
const COUNT = 'count(*)'

const requireFewFields = (fields: readonly string[]): void => {
  if (fields.length > MAX_FIELDS)
    throw invalidField(
      ['fields'],
      'too_long',
      `List should have at most ${MAX_FIELDS} items after validation`,
    )
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

async function* asResponse(rows: AsyncIterable<readonly string[]>, total: number): AsyncGenerator<string> {
  let separator = ''
  yield '{"result":['
  for await (const page of rows) {
    if (page.length === 0) continue
    yield separator + page.join(',')
    separator = ','
  }
  yield `],"total_count":${total}}`
}

/** Other columns are only included if set. */
const ALWAYS = [
  'id',
  'project_id',
  'weave_ref',
  'wb_user_id',
  'creator',
  'created_at',
  'feedback_type',
  'payload',
  'annotation_ref',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'queue_id',
] as const

export const feedbackJson = (feedback: StoredFeedback): JsonObject => {
  const present = Object.entries(feedback).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(ALWAYS.map((column) => [column, feedback[column]])),
    ...Object.fromEntries(present),
  }
}

/**
 * Serialises feedback, or only the requested fields, each under its dotted name.
 *
 * @throws UnknownField
 */
const rowsOf = (fields: readonly string[] | null): ((feedback: StoredFeedback) => string) => {
  if (fields === null || fields.length === 0) return (feedback) => jsonText(feedbackJson(feedback))
  const pickers = [...new Set(fields)].map((field) => [field, fieldPicker(field)] as const)
  return (feedback) =>
    `{${pickers.map(([field, pick]) => `${JSON.stringify(field)}:${pick(feedback)}`).join(',')}}`
}

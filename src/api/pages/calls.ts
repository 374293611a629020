import { preview } from '../../application/calls/preview.js'
import { usageSums, type UsageSums } from '../../application/calls/usage-sums.js'
import type { Services } from '../../application/services.js'
import { listName } from '../../domain/prices/events.js'
import { fieldName } from '../../domain/query/field-path.js'
import { query } from '../../domain/query/query.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import {
  boolean,
  int64,
  integerBetween,
  number,
  oneOf,
  string,
  wholeNumber,
} from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { isCallField } from '../../projections/calls/fields.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { listRows, type ListRow } from '../../projections/calls/list-rows.js'
import type { CallId } from '../../projections/calls/pages.js'
import { subtreeCounts } from '../../projections/calls/subtree-counts.js'
import { cellsOf } from '../../projections/calls/values.js'
import { feedbackKinds } from '../../projections/feedback/queries.js'
import { cachedBooks } from '../../projections/prices/cached-books.js'
import { usageFrom } from '../../projections/usage/queries.js'
import { Failure, invalid } from '../../application/failure.js'
import { callsFilter } from '../../application/calls/filter.js'
import { matchingIds } from '../calls/matching-ids.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { inBody } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { sortBy } from '../server/sorted-range.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'
import { compressedJson } from './compressed.js'

const MAX_ROWS = 200
const MAX_COLUMNS = 40

/** What is only counted for lists that show it. */
const FIGURES = ['calls', 'errors', 'feedback'] as const

const callRow = open('CallRow', {
  says:
    '`tokens` and `cost` include all descendants; `unpriced` if `cost` lacks models without a price. The others are there if ' +
    '`figures` names them. `calls` and `errors` count the call with its descendants, or the trace of its only root, and are ' +
    'null where there are too many to count. `feedback` on the call is by emoji, or else by type.',
  required: {
    id: string,
    trace_id: string,
    parent_id: nullable(string),
    op_name: string,
    display_name: nullable(string),
    /** In microseconds since 1970. */
    started_us: int64,
    duration_us: nullable(int64),
    status: string,
    exception: nullable(string),
    user: nullable(string),
    thread: nullable(string),
    input: string,
    output: string,
    models: arrayOf(string),
    tokens: int64,
    cost: number,
    unpriced: boolean,
    cells: arrayOf(nullable(string)),
  },
  optional: { calls: nullable(int64), errors: nullable(int64), feedback: recordOf(int64) },
})

/** A page of calls, as rows of a list that are small whatever the calls' payload. */
export const callsRoute = (services: Pick<Services, 'access' | 'reading' | 'maxTraceCalls'>): AnyRoute => {
  const { reading, maxTraceCalls } = services
  const books = cachedBooks(reading.generation)
  const usage = usageFrom(reading.generation)
  return readProject(services, {
    method: 'post',
    path: '/api/pages/calls',
    summary:
      'Rows of a list of calls, with previews and inclusive usage. Send the position of the first page as ' +
      'Tallytree-As-Of for the next ones, so that no row is shown twice.',
    body: closed('CallsPageRequest', {
      required: { project_id: projectId },
      optional: {
        filter: nullable(callsFilter),
        query: nullable(query),
        sort_by: sortBy,
        limit: withDefault(integerBetween(1, MAX_ROWS), 50),
        offset: withDefault(wholeNumber, 0),
        columns: withDefault(arrayOf(fieldName), [] as readonly string[]),
        figures: withDefault(arrayOf(oneOf(...FIGURES)), [] as readonly (typeof FIGURES)[number][]),
        preview_characters: withDefault(integerBetween(10, 2000), 200),
        price_list: nullable(listName),
      },
    }),
    errors: ['forbidden'],
    response: open('CallsPage', { required: { rows: arrayOf(callRow), has_more: boolean } }),
    project: inBody,
    handle: (request) => {
      const { body, headers, project, reader } = request
      const { columns, figures, limit, preview_characters: characters, price_list: list } = body
      requireFields(columns, ['body', 'columns'])
      const selecting = { ...body, limit: limit + 1, expand_columns: null }
      const { pagesAt } = matchingIds({ ...services, books }, { ...request, body: selecting })
      return {
        waitFor: () => waitForPrices(reading, request, { list }),
        read: async (position) => {
          const found: CallId[] = []
          for await (const page of pagesAt(position)) found.push(...page)
          const keys = found.slice(0, limit)
          const ids = keys.map(({ id }) => id)
          const asksFor = (...names: typeof figures) => names.some((name) => figures.includes(name))
          const [rows, answer, cells, feedback] = await Promise.all([
            listRows(reader, project, keys, position),
            usage(reader, {
              ...{ projectId: project, position, maxTraceCalls, limit: ids.length, operation: null },
              ...{ filter: { ...NO_FILTER, call_ids: ids }, costs: { list } },
            }).catch(refuseTooLarge),
            cellsOf(reader, project, ids, columns, position),
            asksFor('feedback') ? feedbackKinds(reader, project, ids, position) : undefined,
          ])
          const counts = asksFor('calls', 'errors')
            ? await subtreeCounts(reader, project, rows, position)
            : undefined
          const sums = new Map(answer.calls.map((call) => [call.id, usageSums(call)]))
          return compressedJson(headers, {
            rows: rows.map((row) => ({
              ...shown(row, characters, sums.get(row.id), cells.get(row.id)),
              ...(counts && (counts.get(row.id) ?? UNCOUNTED)),
              ...(feedback && { feedback: feedback.get(row.id) ?? {} }),
            })),
            has_more: found.length > limit,
          })
        },
      }
    },
  })
}

/** Refuses unknown fields, and more columns than a table shows. */
export const requireFields = (names: readonly string[], loc: readonly string[]): void => {
  if (names.length > MAX_COLUMNS)
    throw new Failure('bad-request', `At most ${MAX_COLUMNS} columns are allowed.`)
  const unknown = names.find((name) => !isCallField(name))
  if (unknown !== undefined)
    throw invalid([
      { loc, type: 'value_error', msg: `Value error, calls have no field ${JSON.stringify(unknown)}` },
    ])
}

const UNCOUNTED = { calls: null, errors: null }

const NO_USAGE: UsageSums = { models: [], tokens: 0, cost: 0, unpriced: false }

const shown = (
  { ended_us, inputs, output, attributes: _, summary: __, ...row }: ListRow,
  characters: number,
  usage = NO_USAGE,
  cells: readonly (string | null)[] = [],
) => ({
  ...row,
  duration_us: ended_us === null ? null : ended_us - row.started_us,
  input: preview(inputs, 'input', characters),
  output: preview(output, 'output', characters),
  ...usage,
  cells,
})

import { erasedCalls } from '../../projections/erasures/without-figures.js'
import { erasedHeader } from './erased-calls.js'
import type { Services } from '../../application/services.js'
import { threadFigures } from '../../application/calls/thread-figures.js'
import { TOKENS } from '../../application/calls/usage-sums.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, int64, number, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { threads } from '../../projections/calls/threads.js'
import { valuesOf } from '../../projections/usage/columns.js'
import { usageFrom } from '../../projections/usage/queries.js'
import { inBody } from '../server/authorization.js'
import { JSON_LINES, linesOf } from '../server/json-pages.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { orderOf, range, sortBy } from '../server/sorted-range.js'
import { off } from './query-codecs.js'
import { waitForPrices } from './requested-costs.js'
import { requireLimit } from './usage-fields.js'

/** The most threads of a request with figures of their calls. */
const MAX_WITH_FIGURES = 1000

const threadsQuery = closed('ThreadsQueryRequest', {
  required: { project_id: projectId },
  optional: {
    filter: nullable(
      closed('ThreadsFilter', {
        optional: {
          /** Only threads that started after this time. */
          after_datetime: nullable(instant),
          /** Only threads that were last updated before this time. */
          before_datetime: nullable(instant),
          thread_ids: nullable(arrayOf(string)),
        },
      }),
    ),
    sort_by: sortBy,
    ...range,
    include_usage: off,
    include_costs: off,
    include_details: off,
  },
})

export const threadJson = open('Thread', {
  says:
    '`include_usage` adds the tokens of the turns and all calls below them, `include_costs` what they cost: `cost` is null if it ' +
    'is unknown, and lacks models without a price if `unpriced`. `include_details` adds the others. `error_count` is the ' +
    'number of turns and calls below them that failed, or null where there are too many to count. A turn below another one of ' +
    'its thread counts once. `end_user` is that of the first turn that has one, up to 300 characters. ' +
    '`first_message` is a preview of the first message of the user in the first turn, or null.',
  required: { thread_id: string, turn_count: wholeNumber, start_time: instant, last_updated: instant },
  optional: {
    first_turn_id: nullable(string),
    last_turn_id: nullable(string),
    p50_turn_duration_ms: nullable(number),
    p99_turn_duration_ms: nullable(number),
    ...valuesOf(TOKENS, int64),
    cost: nullable(number),
    unpriced: boolean,
    error_count: nullable(wholeNumber),
    end_user: nullable(string),
    first_message: nullable(string),
  },
})

export const threadRoutes = (
  services: Pick<Services, 'access' | 'reading' | 'maxTraceCalls'>,
): readonly AnyRoute[] => {
  const { reading, maxTraceCalls } = services
  const usage = usageFrom(reading.generation)
  return [
    readProject(services, {
      method: 'post',
      path: '/threads/stream_query',
      summary: 'Stream the threads of a project, one per line, the one last updated first.',
      body: threadsQuery,
      errors: ['forbidden'],
      response: {
        ...{ schema: linesOf('One thread per line.', threadJson.schema), type: JSON_LINES },
        headers: ['Tallytree-Position', 'Tallytree-Erased-Calls'],
      },
      project: inBody,
      handle: (request) => {
        const { body, project: projectId, reader } = request
        const { filter, sort_by, limit, offset, include_costs } = body
        const hasFigures = body.include_usage || include_costs || body.include_details
        if (hasFigures) requireLimit(limit, 'threads with usage, costs or details', MAX_WITH_FIGURES)
        const query = {
          projectId,
          threadIds: filter?.thread_ids ?? [],
          after: filter?.after_datetime ?? null,
          before: filter?.before_datetime ?? null,
          matching: null,
          order: orderOf(sort_by, [{ field: 'last_updated', direction: 'desc' }]),
          limit,
          offset,
        }
        return {
          waitFor: () => waitForPrices(reading, request, include_costs ? { list: null } : null),
          read: async (position) => {
            const found = await threads(reader)({ ...query, position })
            const of = { ...body, projectId, position, maxTraceCalls }
            const figures = await threadFigures(reader, usage, found, of)
            const lines = found.map((thread) => JSON.stringify({ ...thread, ...figures(thread.thread_id) }))
            const range = { from: query.after, to: query.before }
            const headers = erasedHeader(await erasedCalls(reader, projectId, position, range))
            return { body: lines.map((line) => `${line}\n`).join(''), type: JSON_LINES, headers }
          },
        }
      },
    }),
  ]
}

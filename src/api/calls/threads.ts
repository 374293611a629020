import type { Services } from '../../application/services.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { number, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { threads } from '../../projections/calls/threads.js'
import { inBody } from '../server/authorization.js'
import { JSON_LINES, linesOf } from '../server/json-pages.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { orderOf, range, sortBy } from '../server/sorted-range.js'

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
  },
})

const threadJson = open('Thread', {
  required: { thread_id: string, turn_count: wholeNumber, start_time: instant, last_updated: instant },
  optional: {
    first_turn_id: nullable(string),
    last_turn_id: nullable(string),
    p50_turn_duration_ms: nullable(number),
    p99_turn_duration_ms: nullable(number),
  },
})

export const threadRoutes = (services: Pick<Services, 'access' | 'reading'>): readonly AnyRoute[] => [
  readProject(services, {
    method: 'post',
    path: '/threads/stream_query',
    summary: 'Stream the threads of a project, one per line, the one last updated first.',
    body: threadsQuery,
    errors: ['forbidden'],
    response: { schema: linesOf('One thread per line.', threadJson.schema), type: JSON_LINES },
    project: inBody,
    handle: ({ body: { filter, sort_by, limit, offset }, project: projectId, reader }) => {
      const query = {
        projectId,
        threadIds: filter?.thread_ids ?? [],
        after: filter?.after_datetime ?? null,
        before: filter?.before_datetime ?? null,
        order: orderOf(sort_by, [{ field: 'last_updated', direction: 'desc' }]),
        limit,
        offset,
      }
      return async (position) => {
        const found = await threads(reader)({ ...query, position })
        return { body: found.map((thread) => `${JSON.stringify(thread)}\n`).join(''), type: JSON_LINES }
      }
    },
  }),
]

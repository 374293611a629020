import type { Services } from '../../application/services.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { AnnotationQueueCommand } from '../../domain/annotation-queues/queue.js'
import { id } from '../../kernel/ids.js'
import { jsonText } from '../../kernel/json/text.js'
import {
  annotationQueues,
  annotationQueueStats,
  type StoredQueue,
} from '../../projections/annotation-queues/queries.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { noSuchQueue, writeQueue } from '../../application/annotation-queues/queues.js'
import { invalidField } from '../../application/failure.js'
import { inBody, inQuery } from '../server/authorization.js'
import { idFor } from '../server/idempotency.js'
import { JSON_LINES, linesOf } from '../server/json-pages.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { changeProject, readProject, idempotent, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { orderOf } from '../server/sorted-range.js'
import {
  ofProject,
  oneQueue,
  queueChange,
  queueCreate,
  queueCodec,
  queueQuery,
  queueStats,
  statsJson,
} from './codecs.js'

const MAX_QUEUES = 1000

type QueueServices = Pick<
  Services,
  'eventStore' | 'ids' | 'sha256' | 'clock' | 'access' | 'reading' | 'throttle'
>

/** The queue in the path of a route. */
export const queueIn = ({ params }: Pick<RouteRequest, 'params'>): string => {
  const queueId = params['queue_id']!
  if (!id.is(queueId)) throw noSuchQueue()
  return queueId
}

/** The commands whose answer is the queue as it is afterwards. */
const changing = (
  services: QueueServices,
  command: Exclude<AnnotationQueueCommand, { type: 'CreateAnnotationQueue' }>,
) =>
  writing(writeQueue(services, command), ({ state }) => {
    const { content, createdBy: created_by, createdAt: created_at, updatedAt: updated_at } = state!
    const stored = { id: command.id, ...content, created_by, created_at, updated_at }
    return { queue: queueJson(command.project_id, stored, state!.deletedAt) }
  })

const queueJson = (project_id: string, queue: StoredQueue, deleted_at: Instant | null = null) => ({
  project_id,
  ...queue,
  deleted_at,
})

const createQueue = (services: QueueServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/annotation_queues',
    summary: 'Create an annotation queue: calls that people review.',
    body: queueCreate,
    ...idempotent,
    response: open('AnnotationQueueCreateResponse', { required: { id: string } }),
    project: inBody,
    handle: (request) => {
      const { project_id, wb_user_id: _, ...content } = request.body
      const { userId } = request.principal
      const id = idFor(services, request, 0)
      const now = instantOf(services.clock.now())
      const command = { type: 'CreateAnnotationQueue', project_id, id, content, userId, now } as const
      return writing(writeQueue(services, command), () => ({ id }))
    },
  })

const changeQueue = (services: QueueServices): AnyRoute =>
  changeProject(services, {
    method: 'put',
    path: '/annotation_queues/:queue_id',
    summary: 'Update an annotation queue. Absent fields keep their values.',
    body: queueChange,
    response: oneQueue,
    project: inBody,
    handle: (request) => {
      const { project_id, wb_user_id: _, ...fields } = request.body
      const change = withoutNulls(fields)
      const now = instantOf(services.clock.now())
      return changing(services, {
        type: 'ChangeAnnotationQueue',
        project_id,
        id: queueIn(request),
        change,
        now,
      })
    },
  })

const withoutNulls = <A extends object>(fields: A) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    readonly [K in keyof A]?: NonNullable<A[K]>
  }

const deleteQueue = (services: QueueServices): AnyRoute =>
  changeProject(services, {
    method: 'delete',
    path: '/annotation_queues/:queue_id',
    summary: 'Delete an annotation queue with its items. Its calls and their feedback stay.',
    query: ofProject,
    response: oneQueue,
    project: inQuery,
    handle: (request) => {
      const now = instantOf(services.clock.now())
      const { project: project_id } = request
      return changing(services, { type: 'DeleteAnnotationQueue', project_id, id: queueIn(request), now })
    },
  })

const queuesById = (
  reader: ClickHouseReader,
  projectId: string,
  ids: readonly string[],
  position: Position,
): Promise<readonly StoredQueue[]> =>
  annotationQueues(reader)({ projectId, position, ids, name: null, order: [], limit: null, offset: null })

export const queueById = async (
  reader: ClickHouseReader,
  projectId: string,
  queueId: string,
  position: Position,
): Promise<StoredQueue | undefined> => (await queuesById(reader, projectId, [queueId], position))[0]

const readQueue = (services: QueueServices): AnyRoute =>
  readProject(services, {
    method: 'get',
    path: '/annotation_queues/:queue_id',
    summary: 'Read an annotation queue.',
    query: ofProject,
    response: oneQueue,
    project: inQuery,
    handle: (request) => {
      const { project, reader } = request
      const queueId = queueIn(request)
      return async (position) => {
        const queue = await queueById(reader, project, queueId, position)
        if (queue === undefined) throw noSuchQueue()
        return { body: { queue: queueJson(project, queue) } }
      }
    },
  })

const queryQueues = (services: QueueServices): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/annotation_queues/query',
    summary: 'List the annotation queues of a project, one per line, the newest first.',
    body: queueQuery,
    errors: ['forbidden'],
    response: { schema: linesOf('One queue per line.', queueCodec.schema), type: JSON_LINES },
    project: inBody,
    handle: ({ body, project: projectId, reader }) => {
      const { name, limit, offset } = body
      const order = orderOf(body.sort_by, [{ field: 'created_at', direction: 'desc' }])
      return async (position) => {
        const query = { projectId, position, name, ids: null, order, limit, offset }
        const queues = await annotationQueues(reader)(query)
        const lines = queues.map((queue) => `${jsonText(queueJson(projectId, queue))}\n`)
        return { body: lines.join(''), type: JSON_LINES }
      }
    },
  })

const readStats = (services: QueueServices): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/annotation_queues/stats',
    summary: 'Count the items of annotation queues, and those that are completed or skipped.',
    body: queueStats,
    response: statsJson,
    project: inBody,
    handle: ({ body: { queue_ids }, project, reader }) => {
      const ids = [...new Set(queue_ids)]
      if (ids.length > MAX_QUEUES)
        throw invalidField(['queue_ids'], 'too_long', `List should have at most ${MAX_QUEUES} items`)
      return async (position) => {
        const existing = new Set((await queuesById(reader, project, ids, position)).map(({ id }) => id))
        const counts = await annotationQueueStats(reader)(project, ids, position)
        const found = new Map(counts.map((one) => [one.queue_id, one]))
        const stats = ids
          .filter((queue_id) => existing.has(queue_id))
          .map((queue_id) => found.get(queue_id) ?? { queue_id, total_items: 0, completed_items: 0 })
        return { body: { stats, not_found: ids.filter((queue_id) => !existing.has(queue_id)) } }
      }
    },
  })

export const annotationQueueRoutes = (services: QueueServices): readonly AnyRoute[] => [
  createQueue(services),
  queryQueues(services),
  readStats(services),
  readQueue(services),
  changeQueue(services),
  deleteQueue(services),
]

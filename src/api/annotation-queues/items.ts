import { addItems, callsOfItems, PAGE, progressItem } from '../../application/annotation-queues/items.js'
import { noSuchQueue } from '../../application/annotation-queues/queues.js'
import type { Services } from '../../application/services.js'
import type { AnnotationItem } from '../../domain/annotation-queues/item.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { string, wholeNumber } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { jsonText } from '../../kernel/json/text.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { annotationItems, type StoredItem } from '../../projections/annotation-queues/queries.js'
import { inBody } from '../server/authorization.js'
import { streamedArray } from '../server/json-pages.js'
import { presentConditionsIn } from '../server/read-conditions.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, changeProject, readProject, writeProject } from '../server/route-kinds.js'
import { orderOf } from '../server/sorted-range.js'
import { itemCodec, itemProgress, itemsAdd, itemsQuery } from './codecs.js'
import { queueById, queueIn } from './queues.js'

const itemJson = (project_id: string, item: StoredItem, call_ended_at: Instant | null) => ({
  project_id,
  ...item,
  created_by: item.added_by,
  call_ended_at,
  deleted_at: null,
})

const storedItem = ({ added, state, annotator, updatedAt }: AnnotationItem): StoredItem => {
  const { project_id: _, ...item } = added
  return {
    ...item,
    annotation_state: state,
    annotator_user_id: annotator,
    updated_at: updatedAt,
    position_in_queue: null,
  }
}

type ItemServices = Pick<
  Services,
  'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock' | 'access' | 'reading' | 'throttle'
>

const addRoute = (services: ItemServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/annotation_queues/:queue_id/items',
    summary:
      'Add calls to an annotation queue, each once. Calls that do not exist, or are deleted, are listed in not_found.',
    body: itemsAdd,
    requestHeaders: ['Tallytree-Min-Position'],
    errors: [...alsoReads.errors, 'too-large'],
    response: open('AnnotationItemsAddResponse', {
      required: { added_count: wholeNumber, duplicates: wholeNumber, not_found: arrayOf(string) },
    }),
    project: inBody,
    handle: (request) =>
      addItems(
        services,
        request.reader,
        queueIn(request),
        request.body,
        presentConditionsIn(request.headers),
      ),
  })

const queryRoute = (services: ItemServices): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/annotation_queues/:queue_id/items/query',
    summary: 'List the items of an annotation queue, in the order in which they were added.',
    body: itemsQuery,
    errors: ['forbidden'],
    response: open('AnnotationItemsQueryResponse', { required: { items: arrayOf(itemCodec) } }),
    project: inBody,
    handle: (request) => {
      const { body, project: projectId, reader } = request
      const queueId = queueIn(request)
      const { filter, limit, offset, include_position: withPosition } = body
      const order = orderOf(body.sort_by, [{ field: 'created_at', direction: 'asc' }])
      return async (position) => {
        if ((await queueById(reader, projectId, queueId, position)) === undefined) throw noSuchQueue()
        const query = { projectId, queueId, position, filter, withPosition, order, limit, offset }
        const items = await annotationItems(reader)(query)
        return streamedArray('items')(itemTexts(reader, projectId, items, position))
      }
    },
  })

async function* itemTexts(
  reader: ClickHouseReader,
  project: string,
  items: readonly StoredItem[],
  position: Position,
): AsyncGenerator<readonly string[]> {
  for (let from = 0; from < items.length; from += PAGE) {
    const page = items.slice(from, from + PAGE)
    const calls = await callsOfItems(
      reader,
      project,
      page.map(({ call_id }) => call_id),
      position,
    )
    yield page.map((item) => jsonText(itemJson(project, item, calls.get(item.call_id)?.ended_at ?? null)))
  }
}

const progressRoute = (services: ItemServices): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: '/annotation_queues/:queue_id/items/:item_id/progress',
    summary: 'Begin, complete or skip an item of an annotation queue.',
    body: itemProgress,
    errors: ['bad-request'],
    response: open('AnnotationItemProgressResponse', { required: { item: itemCodec } }),
    project: inBody,
    handle: async (request) => {
      const { body, project, params } = request
      const { annotation_state: state } = body
      const write = await progressItem(services, project, queueIn(request), params['item_id']!, state)
      return async (cause) => {
        const { item, callEndedAt, position, readableAt } = await write(cause)
        return { body: { item: itemJson(project, storedItem(item), callEndedAt) }, position, readableAt }
      }
    },
  })

export const annotationItemRoutes = (services: ItemServices): readonly AnyRoute[] => [
  addRoute(services),
  queryRoute(services),
  progressRoute(services),
]

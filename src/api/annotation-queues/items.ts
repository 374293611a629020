import { Readable } from 'node:stream'
import { presentConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { itemOfQueue, liveQueue } from '../../application/annotation-queues/from-log.js'
import { foldedCall } from '../../application/calls/folded-call.js'
import { Failure, invalidField } from '../../application/failure.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import { string, wholeNumber } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import {
  annotationItemDecider,
  NO_SUCH_ITEM,
  type AnnotationItem,
  annotationItemStream,
  itemIdOf,
  progressState,
  type AnnotationItemAdded,
} from '../../domain/annotation-queues/item.js'
import { execute } from '../../kernel/execute.js'
import { id } from '../../kernel/ids.js'
import { inChunks } from '../../kernel/in-chunks.js'
import { jsonText } from '../../kernel/json/text.js'
import { later } from '../../kernel/later.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { prefetchFirst } from '../../kernel/prefetch-first.js'
import { annotationItems, type StoredItem } from '../../projections/annotation-queues/queries.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import { callsById } from '../../projections/calls/read.js'
import { inBody } from '../server/authorization.js'
import { asArray } from '../server/json-pages.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, changeProject, readProject, writeProject } from '../server/route-kinds.js'
import { orderOf } from '../server/sorted-range.js'
import { itemJson, itemProgress, itemsAdd, itemsQuery } from './codecs.js'
import { noSuchQueue, queueById, queueIn } from './queues.js'

const MAX_CALLS = 10_000
const MAX_FIELDS = 100

const shownItem = (project_id: string, item: StoredItem, call_ended_at: Instant | null) => ({
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

const requireQueue = async (services: ItemServices, project: string, queueId: string): Promise<void> => {
  if ((await liveQueue(services, project, queueId)) === undefined) throw noSuchQueue()
}

/** Calls per statement, and per page of an answer. */
const PAGE = 1000
/** Adds this many items in parallel. */
const AT_ONCE = 500

const addItems = (services: ItemServices): AnyRoute =>
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
    handle: async (request) => {
      const { body, project: project_id, reader, headers, principal } = request
      const { call_ids, display_fields } = body
      const queue_id = queueIn(request)
      if (call_ids.length > MAX_CALLS)
        throw new Failure('too-large', `Request too large: at most ${MAX_CALLS} call_ids per request.`)
      if (display_fields.length > MAX_FIELDS)
        throw invalidField(['display_fields'], 'too_long', `List should have at most ${MAX_FIELDS} items`)
      await requireQueue(services, project_id, queue_id)
      // Ignores `Tallytree-Stale`, which would hide recent calls.
      const seen = await services.reading.waitForNow(project_id, {
        ...presentConditionsIn(headers),
        stale: false,
      })
      const distinct = [...new Set(call_ids)]
      const calls = await knownCalls(reader, project_id, distinct, seen)
      const known = distinct.flatMap((callId) => calls.get(callId) ?? [])
      return async (cause) => {
        const now = services.clock.now()
        const added = await inChunks(known, AT_ONCE, (call, index) => {
          const item: AnnotationItemAdded = {
            project_id,
            queue_id,
            id: itemIdOf(services.sha256, project_id, queue_id, call.id),
            call_id: call.id,
            call_op_name: call.op_name,
            call_trace_id: call.trace_id,
            call_started_at: call.started_at,
            display_fields,
            added_by: principal.userId,
            created_at: microsecondsAfter(now, index),
          }
          const stream = annotationItemStream(project_id, item.id)
          const command = { type: 'AddAnnotationItem', item } as const
          return execute(services)(annotationItemDecider, stream, [command], cause, { assumeNew: true })
        })
        const added_count = added.filter(({ position }) => position !== undefined).length
        const not_found = distinct.filter((callId) => !calls.has(callId))
        const duplicates = call_ids.filter((callId) => calls.has(callId)).length - added_count
        const position = added.map(({ readableAt }) => readableAt).reduce(later, undefined)
        return { body: { added_count, duplicates, not_found }, position }
      }
    },
  })

/** Items of one request are a microsecond apart, so that they keep its order. */
const microsecondsAfter = (time: Date, index: number): Instant => {
  const at = instantOf(new Date(time.getTime() + Math.floor(index / 1000)))
  return `${at.slice(0, -4)}${String(index % 1000).padStart(3, '0')}Z` as Instant
}

/** The calls of a project by id, without payload. Missing and deleted ones are omitted. */
const knownCalls = async (
  reader: ClickHouseReader,
  project: string,
  ids: readonly string[],
  position: Position,
): Promise<ReadonlyMap<string, StoredCall>> => {
  const calls = new Map<string, StoredCall>()
  const possible = ids.filter(id.is)
  for (let from = 0; from < possible.length; from += PAGE)
    for (const call of await callsById(reader)(project, possible.slice(from, from + PAGE), position, []))
      calls.set(call.id, call)
  return calls
}

const queryItems = (services: ItemServices): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/annotation_queues/:queue_id/items/query',
    summary: 'List the items of an annotation queue, in the order in which they were added.',
    body: itemsQuery,
    errors: ['forbidden'],
    response: open('AnnotationItemsQueryResponse', { required: { items: arrayOf(itemJson) } }),
    project: inBody,
    handle: (request) => {
      const { body, project: projectId, reader } = request
      const queueId = queueIn(request)
      const { filter, limit, offset, include_position: withPosition } = body
      const order = orderOf(body.sort_by, [{ field: 'created_at', direction: 'asc' }])
      return async (position) => {
        if ((await queueById(reader, projectId, queueId, position)) === undefined) throw noSuchQueue()
        const asked = { projectId, queueId, position, filter, withPosition, order, limit, offset }
        const items = await annotationItems(reader)(asked)
        const texts = await prefetchFirst(itemTexts(reader, projectId, items, position))
        return { body: Readable.from(asArray('items', texts)), type: 'application/json; charset=utf-8' }
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
    const calls = await knownCalls(
      reader,
      project,
      page.map(({ call_id }) => call_id),
      position,
    )
    yield page.map((item) => jsonText(shownItem(project, item, calls.get(item.call_id)?.ended_at ?? null)))
  }
}

const progressItem = (services: ItemServices): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: '/annotation_queues/:queue_id/items/:item_id/progress',
    summary: 'Begin, complete or skip an item of an annotation queue.',
    body: itemProgress,
    errors: ['bad-request'],
    response: open('AnnotationItemProgressResponse', { required: { item: itemJson } }),
    project: inBody,
    handle: async (request) => {
      const { body, project, params, principal } = request
      const { annotation_state: state } = body
      const queue_id = queueIn(request)
      if (!progressState.is(state))
        throw new Failure('bad-request', 'annotation_state should be in_progress, completed or skipped.')
      await requireQueue(services, project, queue_id)
      const item = await itemOfQueue(services, project, queue_id, params['item_id']!)
      const call = item && (await foldedCall(services)(project, item.added.call_id))
      if (item === undefined || call === undefined) throw new Failure('bad-request', NO_SUCH_ITEM)
      return async (cause) => {
        const now = instantOf(services.clock.now())
        const command = {
          type: 'ProgressAnnotationItem',
          queue_id,
          state,
          userId: principal.userId,
          now,
        } as const
        const stream = annotationItemStream(project, item.added.id)
        const executed = await execute(services)(annotationItemDecider, stream, [command], cause)
        const refusal = executed.refusals.get(0)
        if (refusal !== undefined) throw new Failure('bad-request', refusal.reason)
        const body = { item: shownItem(project, storedItem(executed.state!), call.ended_at) }
        return { body, position: executed.position, readableAt: executed.readableAt }
      }
    },
  })

export const annotationItemRoutes = (services: ItemServices): readonly AnyRoute[] => [
  addItems(services),
  queryItems(services),
  progressItem(services),
]

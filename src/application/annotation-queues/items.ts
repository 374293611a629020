import {
  annotationItemDecider,
  annotationItemStream,
  itemIdOf,
  NO_SUCH_ITEM,
  progressState,
  type AnnotationItem,
  type AnnotationItemAdded,
} from '../../domain/annotation-queues/item.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { execute, load } from '../../kernel/execute.js'
import { id } from '../../kernel/ids.js'
import { inChunks } from '../../kernel/in-chunks.js'
import { later } from '../../kernel/later.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import { callsById } from '../../projections/calls/read.js'
import { foldedCall } from '../calls/folded-call.js'
import { Failure, invalidField } from '../failure.js'
import type { PresentConditions } from '../reading/reading.js'
import type { Services } from '../services.js'
import { liveQueue, noSuchQueue } from './queues.js'

const MAX_CALLS = 10_000
const MAX_FIELDS = 100
/** Calls per statement, and per page of an answer. */
export const PAGE = 1000
/** Adds this many items in parallel. */
const AT_ONCE = 500

type ItemServices = Pick<Services, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock' | 'reading'>

interface ItemsAdd extends Pick<AnnotationItemAdded, 'project_id' | 'display_fields'> {
  readonly call_ids: readonly string[]
}

/** Adds calls to a queue, each once. */
export const addItems = async (
  services: ItemServices,
  reader: ClickHouseReader,
  queue_id: string,
  { project_id, call_ids, display_fields }: ItemsAdd,
  conditions: PresentConditions,
) => {
  if (call_ids.length > MAX_CALLS)
    throw new Failure('too-large', `Request too large: at most ${MAX_CALLS} call_ids per request.`)
  if (display_fields.length > MAX_FIELDS)
    throw invalidField(['display_fields'], 'too_long', `List should have at most ${MAX_FIELDS} items`)
  await requireQueue(services, project_id, queue_id)
  // Ignores `Tallytree-Stale`, which would hide recent calls.
  const seen = await services.reading.waitForNow(project_id, { ...conditions, stale: false })
  const distinct = [...new Set(call_ids)]
  const calls = await callsOfItems(reader, project_id, distinct, seen)
  const found = distinct.flatMap((callId) => calls.get(callId) ?? [])
  return async (cause: Cause) => {
    const now = services.clock.now()
    const added = await inChunks(found, AT_ONCE, (call, index) => {
      const item: AnnotationItemAdded = {
        project_id,
        queue_id,
        id: itemIdOf(services.sha256, project_id, queue_id, call.id),
        call_id: call.id,
        call_op_name: call.op_name,
        call_trace_id: call.trace_id,
        call_started_at: call.started_at,
        display_fields,
        added_by: cause.actor,
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
}

const requireQueue = async (services: ItemServices, project: string, queueId: string): Promise<void> => {
  if ((await liveQueue(services, project, queueId)) === undefined) throw noSuchQueue()
}

/** Items of one request are a microsecond apart, so that they keep its order. */
const microsecondsAfter = (time: Date, index: number): Instant => {
  const at = instantOf(new Date(time.getTime() + Math.floor(index / 1000)))
  return `${at.slice(0, -4)}${String(index % 1000).padStart(3, '0')}Z` as Instant
}

/** The calls of a project by id, without payload. Missing and deleted ones are omitted. */
export const callsOfItems = async (
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

/** Begins, completes or skips an item; with the end of its call. */
export const progressItem = async (
  services: ItemServices,
  project: string,
  queue_id: string,
  itemId: string,
  state: string,
) => {
  if (!progressState.is(state))
    throw new Failure('bad-request', 'annotation_state should be in_progress, completed or skipped.')
  await requireQueue(services, project, queue_id)
  const item = await itemOfQueue(services, project, queue_id, itemId)
  const call = item && (await foldedCall(services)(project, item.added.call_id))
  if (call === undefined) throw new Failure('bad-request', NO_SUCH_ITEM)
  return async (cause: Cause) => {
    const now = instantOf(services.clock.now())
    const command = { type: 'ProgressAnnotationItem', queue_id, state, userId: cause.actor, now } as const
    const stream = annotationItemStream(project, itemId)
    const executed = await execute(services)(annotationItemDecider, stream, [command], cause)
    const refusal = executed.refusals.get(0)
    if (refusal !== undefined) throw new Failure('bad-request', refusal.reason)
    return { ...executed, item: executed.state!, callEndedAt: call.ended_at }
  }
}

/** An item of a queue as of the end of the log. */
const itemOfQueue = async (
  services: ItemServices,
  projectId: string,
  queueId: string,
  itemId: string,
): Promise<AnnotationItem | undefined> => {
  if (!id.is(itemId)) return undefined
  const { state } = await load(services, annotationItemDecider, annotationItemStream(projectId, itemId))
  return state?.added.queue_id === queueId ? state : undefined
}

import * as E from 'fp-ts/lib/Either.js'
import { annotationItemStream } from '../../domain/annotation-queues/item.js'
import { callStream } from '../../domain/calls/call.js'
import { feedbackStream } from '../../domain/feedback/feedback.js'
import {
  erasesFigures,
  erasureDecider,
  erasureStream,
  type ErasureCommand,
  type ErasureState,
} from '../../domain/erasures/erasure.js'
import { decode } from '../../kernel/codec/codec.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { commandsOf, load } from '../../kernel/execute.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Erasure, EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { feedbackIdsOn, queueItemsOf } from '../../projections/erasures/feedback-ids.js'
import { selectedCalls } from '../../projections/erasures/selected-calls.js'
import { erasuresOf, hasMore, positionsIn, type ErasureKind } from './erase-events.js'
import { erasureSelection, namedCalls, selectionAt } from './selection.js'
import { deleteUnnamed } from './unnamed-blobs.js'

/** Calls of one receipt. */
const CALLS_AT_ONCE = 1000

export interface ErasingPorts extends Pick<Ports, 'blobs' | 'ids' | 'clock'> {
  readonly eventStore: EventStore
  readonly reader: ClickHouseReader
  /** Aborted at the stop: the next start continues. */
  readonly signal: AbortSignal
  /** Waits until the rows of all events up to the position are inserted. */
  readonly waitUntilProjected: (position: Position) => Promise<void>
  /** Removes the content of calls from the read models, and inserts the rows of their events again. `positions` are in log order. */
  readonly clearReadModels: (
    projectId: string,
    ids: readonly string[],
    positions: readonly Position[],
    kind: ErasureKind,
  ) => Promise<void>
}

/** Writes to the stream of an erasure. */
export const writeErasure = commandsOf(erasureDecider, (command: ErasureCommand) => {
  const { project_id, id } = subjectOf(command)
  return erasureStream(project_id, id)
})

const subjectOf = (command: ErasureCommand): OfErasure => {
  switch (command.type) {
    case 'RequestErasure':
      return command.request
    case 'NoteErased':
      return command.erased
    case 'FinishErasure':
      return command.finished
    default:
      return command
  }
}

interface OfErasure {
  readonly project_id: string
  readonly id: string
}

/**
 * Carries out a requested erasure. It can be killed at any moment and repeated: calls are selected before the first is erased, and
 * a repetition erases the same events, so that the store can remove what is left in its files.
 */
export const runErasure = async (
  ports: ErasingPorts,
  { project_id, id }: OfErasure,
  requested: RecordedEvent,
): Promise<void> => {
  const { eventStore, ids, clock, waitUntilProjected } = ports
  const { erase } = eventStore
  const correlationId = requested.id
  const cause: Cause = { correlationId, causationId: correlationId, actor: requested.metadata.actor }
  const stateNow = async (): Promise<ErasureState> =>
    (await load({ eventStore }, erasureDecider, erasureStream(project_id, id))).state
  const note = (command: ErasureCommand) => writeErasure({ eventStore, ids }, command)(cause)

  if (erase === undefined || (await stateNow()).finished !== null) return
  await selectCalls(ports, { project_id, id }, await stateNow(), note)
  const { selected, receipts: before, request } = await stateNow()
  const kind = request !== null && erasesFigures(request) ? 'figures' : 'content'
  const counted = new Set(before.flatMap(({ positions }) => positionsIn(positions)))

  const streamsOf = streamsOfCalls(ports, project_id, kind)
  // Feedback is found by the read model.
  const since = await eventStore.head()
  await waitUntilProjected(since)
  const streams = new Set<string>()
  const positions: Position[] = []
  const erasures = async function* (): AsyncGenerator<Erasure> {
    for (const [part, callIds] of selected.entries()) {
      ports.signal.throwIfAborted()
      const ofCalls = await streamsOf(callIds)
      const { erasures, receipt } = await erasuresOf(ports, ofCalls, counted, kind)
      await note({ type: 'NoteErased', erased: { project_id, id, part, calls: callIds.length, ...receipt } })
      for (const stream of ofCalls) streams.add(stream)
      for (const { position } of erasures) positions.push(position)
      yield* erasures
    }
    const { position, data } = requested
    yield { position, data: { ...data, query: null, erased: true } }
  }
  await erase.call(eventStore, erasures())
  await requireNoMore(kind, eventStore, since, streams)
  await waitUntilProjected(await eventStore.head())
  const inOrder = positions.sort((one, other) => (one < other ? -1 : 1))
  await ports.clearReadModels(project_id, selected.flat(), inOrder, kind)
  const { receipts } = await stateNow()
  const blobs_deleted = await deleteUnnamed(
    ports,
    receipts.flatMap(({ blobs }) => blobs),
  )
  const finished = { project_id, id, finished_at: instantOf(clock.now()), blobs_deleted }
  await note({ type: 'FinishErasure', finished })
}

type Note = (command: ErasureCommand) => Promise<unknown>

/** Notes the calls of the selection, each once, as of the end of the log. */
const selectCalls = async (
  { reader, eventStore, waitUntilProjected }: ErasingPorts,
  { project_id, id }: OfErasure,
  { request, selected, isSelected }: ErasureState,
  note: Note,
): Promise<void> => {
  if (isSelected || request === null) return
  const { filter, query, except } = request
  const figures = erasesFigures(request)
  // Of a call whose figures are erased nothing is above others.
  const with_descendants = request.with_descendants || figures
  const decoded = decode(erasureSelection)({ filter, query, with_descendants, except })
  if (E.isLeft(decoded)) throw new Error('the selection of the erasure cannot be decoded')
  const known = new Set(selected.flat())
  let part: string[] = []
  const add = async (callIds: readonly string[]) => {
    for (const callId of callIds) {
      if (known.has(callId)) continue
      known.add(callId)
      if (part.push(callId) < CALLS_AT_ONCE) continue
      await note({ type: 'SelectCalls', project_id, id, call_ids: part, is_last: false })
      part = []
    }
  }
  const named = namedCalls({ ...decoded.right, with_descendants: request.with_descendants })
  if (named !== undefined) await add(named)
  if (named === undefined || figures) {
    const position = await eventStore.head()
    await waitUntilProjected(position)
    const selection = selectionAt(project_id, decoded.right, position)
    for await (const page of selectedCalls(reader, selection, { ...decoded.right, figures }))
      await add(page.map((call) => call.id))
  }
  await note({ type: 'SelectCalls', project_id, id, call_ids: part, is_last: true })
}

const streamsOfCalls =
  ({ reader }: Pick<ErasingPorts, 'reader'>, projectId: string, kind: ErasureKind) =>
  async (callIds: readonly string[]): Promise<readonly string[]> => [
    ...callIds.map((callId) => callStream(projectId, callId)),
    ...(await feedbackIdsOn(reader, projectId, callIds)).map((id) => feedbackStream(projectId, id)),
    ...(kind === 'content' ? [] : await queueItemsOf(reader, projectId, callIds)).map((id) =>
      annotationItemStream(projectId, id),
    ),
  ]

/** @throws ContentRecorded if a write that was under way when its call was erased brought content */
const requireNoMore = async (
  kind: ErasureKind,
  eventStore: EventStore,
  since: Position,
  streams: ReadonlySet<string>,
): Promise<void> => {
  for await (const event of eventStore.readAll({ after: since }))
    if (streams.has(event.stream) && hasMore(kind, event))
      throw new ContentRecorded(`${event.stream} got content while it was erased; it is erased again`)
}

class ContentRecorded extends Error {
  override readonly name = 'ContentRecorded'
}

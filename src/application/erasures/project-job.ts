import { setTimeout as sleep } from 'node:timers/promises'
import type { ProjectDeleted } from '../../domain/access/events.js'
import { erasedData } from '../../domain/erased-data.js'
import {
  erasureDecider,
  erasureStream,
  type CallsErased,
  type ErasureCommand,
} from '../../domain/erasures/erasure.js'
import { eventsOfProject } from '../../domain/erasures/of-project.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { load } from '../../kernel/execute.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Erasure, EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { blobsNamedBy } from '../../kernel/spill/named-blobs.js'
import { rangesOf, withSummary } from './erase-events.js'
import { writeErasure, type ErasingPorts } from './job.js'
import { deleteUnnamed } from './unnamed-blobs.js'

/** Events and characters of one receipt. */
const AT_ONCE = { events: 1000, characters: 4 * 1024 * 1024 }
/** Requests that were accepted before the deletion have written their events within this time. */
const SETTLED_AFTER_MS = 2000

interface ProjectErasingPorts extends Omit<ErasingPorts, 'clearReadModels' | 'reader'> {
  /** Removes the rows of a project from the read models, but for its figures. */
  readonly clearProject: (projectId: string) => Promise<void>
}

export const causeOf = ({ id, metadata }: RecordedEvent): Cause => ({
  correlationId: id,
  causationId: id,
  actor: metadata.actor,
})

/** Requests the erasure of the content of a deleted project, once. */
export const requestOfDeletion = async (
  ports: Pick<ErasingPorts, 'eventStore' | 'ids'>,
  { project_id, erasure_id: id, deleted_at, deleted_by, reason }: ProjectDeleted,
  cause: Cause,
): Promise<void> => {
  await writeErasure(ports, {
    type: 'RequestErasure',
    request: {
      ...{ project_id, id, requested_at: deleted_at, requested_by: deleted_by },
      ...{ reason: reason ?? 'the project was deleted', filter: null, query: null },
      ...{ with_descendants: false, except: [], figures: false, whole_project: true, erased: false },
    },
  })(cause)
}

/**
 * Erases all content of a deleted project, which it finds by reading the log once. It can be killed at any moment and repeated:
 * receipts are written before events are changed, and a repetition erases the same events.
 */
export const runProjectErasure = async (
  ports: ProjectErasingPorts,
  { project_id, id }: { readonly project_id: string; readonly id: string },
  requested: RecordedEvent,
): Promise<void> => {
  const { eventStore, ids, clock, signal, waitUntilProjected } = ports
  const { erase } = eventStore
  const stateNow = async () =>
    (await load({ eventStore }, erasureDecider, erasureStream(project_id, id))).state
  const note = (command: ErasureCommand) => writeErasure({ eventStore, ids }, command)(causeOf(requested))
  const { receipts, finished } = await stateNow()
  if (erase === undefined || finished !== null) return

  const parts = partsOf(ports, project_id, lastOf(receipts))
  let part = receipts.length
  let isSettled = false
  const erasures = async function* (): AsyncGenerator<Erasure> {
    for await (const { erased, receipt } of parts()) {
      signal.throwIfAborted()
      isSettled = false
      if (receipt.events > 0 || receipt.unreadable > 0)
        await note({ type: 'NoteErased', erased: { project_id, id, part: part++, ...receipt } })
      yield* erased
    }
  }
  while (!isSettled) {
    isSettled = true
    await eraseAny(eventStore, erasures())
    await sleep(SETTLED_AFTER_MS, undefined, { signal })
  }
  await waitUntilProjected(await eventStore.head())
  await ports.clearProject(project_id)
  const blobs_deleted = await deleteUnnamed(
    ports,
    (await stateNow()).receipts.flatMap(({ blobs }) => blobs),
  )
  const end = { project_id, id, finished_at: instantOf(clock.now()), blobs_deleted }
  await note({ type: 'FinishErasure', finished: end })
}

/** The store also removes what is left in its files, which takes long: not for nothing. */
const eraseAny = async (store: EventStore, erasures: AsyncGenerator<Erasure>): Promise<void> => {
  const first = await erasures.next()
  if (first.done === true) return
  const all = async function* () {
    yield first.value
    yield* erasures
  }
  await store.erase!(all())
}

/** The last position that a receipt names. */
const lastOf = (receipts: readonly CallsErased[]): Position => {
  const ends = receipts.flatMap(({ positions }) => positions.split(/[,-]/)).filter((end) => end !== '')
  return ends.map(BigInt).reduce((last, end) => (end > last ? end : last), 0n)
}

type Receipt = Omit<CallsErased, 'project_id' | 'id' | 'part'>

interface Part {
  /** What is left of the events, including events that are erased already. */
  readonly erased: Erasure[]
  readonly receipt: Receipt
}

/** Each call reads on from where the last one ended. What is left of the events up to `receipted` needs no receipt. */
const partsOf = (
  { eventStore, blobs }: Pick<ProjectErasingPorts, 'eventStore' | 'blobs'>,
  project: string,
  receipted: Position,
) => {
  const isOfProject = eventsOfProject(project)
  let after: Position = 0n
  return async function* (): AsyncGenerator<Part> {
    let part = newPart()
    for await (const event of eventStore.readAll({ after })) {
      after = event.position
      if (!isOfProject(event)) continue
      const isNew = event.position > receipted
      if (event.unreadable !== undefined) {
        if (isNew) part.unreadable += 1
        continue
      }
      const data = erasedData(event.type, await withSummary(blobs, event))
      if (data === undefined) continue
      const isErased = event.data['erased'] === true
      if (isErased && isNew) continue
      part.erased.push({ position: event.position, data })
      if (!isErased && isNew) noteEvent(part, event, jsonText(data).length)
      if (part.erased.length < AT_ONCE.events && part.characters < AT_ONCE.characters) continue
      yield finished(part)
      part = newPart()
    }
    if (part.erased.length > 0 || part.unreadable > 0) yield finished(part)
  }
}

const newPart = () => ({
  ...{ erased: [] as Erasure[], changed: [] as Position[], blobs: new Set<string>() },
  ...{ calls: 0, unreadable: 0, characters: 0, removed: 0 },
})

type PartSoFar = ReturnType<typeof newPart>

const noteEvent = (part: PartSoFar, event: RecordedEvent, left: number): void => {
  part.changed.push(event.position)
  part.calls += event.type === 'CallStarted' ? 1 : 0
  part.characters += event.size
  part.removed += jsonText(event.data).length - left
  for (const digest of blobsNamedBy(event)) part.blobs.add(digest)
}

const finished = ({ erased, changed, blobs, calls, unreadable, removed }: PartSoFar): Part => ({
  erased,
  receipt: {
    ...{ calls, events: changed.length, bytes: Math.max(0, removed), unreadable },
    ...{ positions: rangesOf(changed), blobs: [...blobs] },
  },
})

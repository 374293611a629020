import type { BlobStore } from '../../kernel/ports/blobs.js'
import { RowsRefused, type ClickHouseWriter, type Rows } from '../../kernel/ports/clickhouse.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import { weaveTextInSteps } from '../../domain/objects/weave-digest.js'
import { START_PAYLOAD } from '../../domain/calls/payload.js'
import { FieldUnreadable, spilledTexts, withParsed } from '../../kernel/spill/read-back.js'
import { completed, needsEarlierEvents } from '../calls/complete.js'
import { withInheritedDeletions } from '../calls/inherited-deletions.js'
import { isWithoutFigures } from '../../kernel/codec/erasable.js'
import { StreamUnreadable } from '../../kernel/ports/event-store-errors.js'
import { mapInSteps } from '../../kernel/yield-to-event-loop.js'
import { plainTexts } from '../runs/plain-json.js'
import type { LoopWatch } from '../../kernel/loop-watch.js'
import type { Log } from '../../kernel/ports/log.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import { sizeOf } from './lane.js'
import { writeQuarantine, type Quarantined } from './quarantine.js'

export interface InsertOptions {
  readonly clickHouse: ClickHouseWriter
  readonly blobs: BlobStore
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly projections: readonly Projection[]
  readonly loop?: LoopWatch | undefined
}

/** Inserts a batch and sets aside the events that are refused; returns how many. */
export const insertOrQuarantine = async (
  options: InsertOptions & { readonly log: Pick<Log, 'error'> },
  events: readonly RecordedEvent[],
): Promise<number> => {
  const ended = options.loop?.begin(() => 'projector')
  const readable = events.filter(({ unreadable }) => unreadable === undefined)
  const refused = [
    ...events.flatMap((event) =>
      event.unreadable === undefined ? [] : [{ event, reason: event.unreadable }],
    ),
    ...(await insertBatch(options, readable).finally(ended)),
  ]
  if (refused.length > 0) await writeQuarantine(options.clickHouse, refused)
  for (const { event, reason } of refused) {
    const { type, position } = event
    options.log.error('projection.event_quarantined', { position: String(position), type, reason })
  }
  return refused.length
}

/**
 * Inserts the rows of a batch. An event that cannot be projected, or whose rows are refused because of their data, does
 * not stop the others: the batch is halved until that event is alone, and it is returned. Rows that are inserted again
 * on the way are the same rows.
 */
export const insertBatch = async (
  options: InsertOptions,
  events: readonly RecordedEvent[],
): Promise<readonly Quarantined[]> => {
  try {
    await insertAll(options, events)
    return []
  } catch (error) {
    if (!isCausedByEvents(error)) throw error
    const [event] = events
    if (event === undefined) return []
    if (events.length === 1) return confirm(options, event, error)
    const half = Math.ceil(events.length / 2)
    const first = await insertBatch(options, events.slice(0, half))
    const second = await insertBatch(options, events.slice(half))
    return [...first, ...second]
  }
}

/**
 * Tries a single refused event once more: rows that were cut off on their way to a server can look to it like rows that
 * cannot be parsed.
 */
const confirm = async (
  options: InsertOptions,
  event: RecordedEvent,
  first: CausedByEvents,
): Promise<readonly Quarantined[]> => {
  try {
    if (first instanceof RowsRefused) {
      await insertAll(options, [event])
      return []
    }
  } catch (error) {
    if (!isCausedByEvents(error)) throw error
  }
  return [{ event, reason: first.message }]
}

/** What is read from streams for a batch is held in memory up to this size. */
const MAX_BYTES_READ = 16 * 1024 * 1024

const insertAll = async (options: InsertOptions, events: readonly RecordedEvent[]) => {
  let projected: ProjectedEvent[] = []
  let bytesRead = 0
  for (const event of events) {
    const whole = await wholeEvent(options, event)
    projected.push(whole.event)
    bytesRead += whole.bytesRead
    if (bytesRead < MAX_BYTES_READ) continue
    await insertRows(options, projected)
    projected = []
    bytesRead = 0
  }
  await insertRows(options, projected)
}

const insertRows = async ({ clickHouse, projections }: InsertOptions, events: readonly ProjectedEvent[]) => {
  const all = await withInheritedDeletions(clickHouse, events)
  const tables = await tablesOf(projections, all)
  // All have ended before the batch is halved or repeated.
  const inserted = await Promise.allSettled(tables.map((rows) => clickHouse.insert(rows)))
  const failed = inserted.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

/** The rows of each table. Events of a stream are projected together: those of a call become one row. */
const tablesOf = async (projections: readonly Projection[], events: readonly ProjectedEvent[]) => {
  const parts = await mapInSteps(partsOf(events), (part) =>
    projections.flatMap((projection) => project(projection, part)),
  )
  const tables = new Map<string, { readonly rows: Rows; readonly values: Rows['values'][number][] }>()
  for (const rows of parts.flat()) {
    const before = tables.get(rows.table)
    if (before === undefined) tables.set(rows.table, { rows, values: [...rows.values] })
    else for (const row of rows.values) before.values.push(row)
  }
  return [...tables.values()].map(({ rows, values }) => ({ ...rows, values }))
}

/** Their rows are made in a few milliseconds. */
const EVENTS_AT_ONCE = 64

const partsOf = (events: readonly ProjectedEvent[]): readonly (readonly ProjectedEvent[])[] => {
  const byStream = new Map<string | undefined, ProjectedEvent[]>()
  for (const event of events) {
    const own = byStream.get(event.stream)
    if (own === undefined) byStream.set(event.stream, [event])
    else own.push(event)
  }
  const parts: ProjectedEvent[][] = []
  for (const own of byStream.values()) {
    const last = parts.at(-1)
    if (last === undefined || last.length + own.length > EVENTS_AT_ONCE) parts.push(own)
    else last.push(...own)
  }
  return parts
}

/** The event with its spilled fields and what its rows need of earlier events of its stream, and the size of those. */
const wholeEvent = async ({ blobs, eventStore }: InsertOptions, event: RecordedEvent) => {
  const own = isSpilled(event) ? await resolve(blobs, event) : event
  if (isWithoutFigures(event.data) || !needsEarlierEvents(event.type, event.data, event.revision))
    return { event: own, bytesRead: 0 }
  const earlier: ProjectedEvent[] = []
  let bytesRead = 0
  for await (const one of eventStore.readStream(event.stream)) {
    if (one.revision >= event.revision) break
    if (one.type.startsWith('Conflicting')) continue
    bytesRead += sizeOf(one)
    earlier.push(one.type === 'CallEnded' && isSpilled(one) ? await resolve(blobs, one) : one)
    // Of the events before it, anything but a start needs only the start.
    if (one.type === 'CallStarted') break
  }
  return { event: completed(own, earlier), bytesRead }
}

const isSpilled = ({ data }: RecordedEvent): boolean => {
  for (const _field in data['spilled'] as object) return true
  return false
}

/** An object or a list in these stays JSON text: it may be large, and rows need no values in it. */
const PAYLOAD_OF_CALLS: ReadonlySet<string> = new Set([...START_PAYLOAD, 'output'])

/** The event with its spilled fields read back. A store that fails for a while throws its own error. */
const resolve = async (blobs: BlobStore, event: RecordedEvent): Promise<ProjectedEvent> => {
  try {
    const texts = await spilledTexts(blobs, event.data)
    const isOfCall = event.type === 'CallStarted' || event.type === 'CallEnded'
    const isParsed = ([field, text]: [string, string]) =>
      !isOfCall || !PAYLOAD_OF_CALLS.has(field) || !/^[[{]/.test(text)
    const values = Object.fromEntries(Object.entries(texts).filter(isParsed))
    const data = await withParsed(event.data, values)
    if (event.type === 'RunDescribed' || event.type === 'HistoryLogged')
      return { ...event, data, texts: await plainTexts(data, texts) }
    if (event.type !== 'ObjectPublished') return { ...event, data, texts }
    const { length } = await weaveTextInSteps(data['val'] ?? null)
    return { ...event, data, texts, weaveBytes: length }
  } catch (error) {
    if (!(error instanceof FieldUnreadable)) throw error
    throw new NotProjectable(error.message, { cause: error })
  }
}

const project = (projection: Projection, events: readonly ProjectedEvent[]) => {
  try {
    const { types, ofErased = false } = projection
    const own = events.filter(
      ({ type, data }) => types?.has(type) !== false && isWithoutFigures(data) === ofErased,
    )
    return own.length === 0 ? [] : projection.rowsOf(own)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new NotProjectable(`${projection.name}: ${reason}`, { cause: error })
  }
}

/** The event itself is wrong, not the engine or the machine, so a retry does not help. */
class NotProjectable extends Error {
  override readonly name = 'NotProjectable'
}

type CausedByEvents = RowsRefused | NotProjectable | StreamUnreadable

const isCausedByEvents = (error: unknown): error is CausedByEvents =>
  error instanceof RowsRefused || error instanceof NotProjectable || error instanceof StreamUnreadable

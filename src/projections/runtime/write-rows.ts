import type { EventStore, RecordedEvent } from '../../domain/ports/event-store.js'
import type { BlobStore } from '../../domain/ports/blobs.js'
import { RowsRefused, type ClickHouseWriter } from '../../domain/ports/clickhouse.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import { NotProjectable } from './not-projectable.js'
import { wholeEvent } from './resolve.js'

export interface Quarantined {
  readonly event: RecordedEvent
  readonly reason: string
}

interface Writing {
  readonly clickHouse: ClickHouseWriter
  readonly blobs: BlobStore
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly projections: readonly Projection[]
}

/**
 * Inserts the rows of a batch of events. An event that cannot be projected, or whose rows are refused for their
 * data, stops nothing: the batch is halved until that event stands alone; it is answered, the rest is written.
 * Rows written on the way twice are the same rows.
 */
export const writeRows = async (
  writing: Writing,
  events: readonly RecordedEvent[],
): Promise<readonly Quarantined[]> => {
  try {
    await insertAll(writing, events)
    return []
  } catch (error) {
    if (!isAboutTheEvents(error)) throw error
    const [event] = events
    if (event === undefined) return []
    if (events.length === 1) return confirmed(writing, event, error)
    const half = Math.ceil(events.length / 2)
    const first = await writeRows(writing, events.slice(0, half))
    const second = await writeRows(writing, events.slice(half))
    return [...first, ...second]
  }
}

/**
 * One event alone that is refused is tried once more before it is set aside: what was cut on its way to a server can look
 * there like rows that cannot be read.
 */
const confirmed = async (
  writing: Writing,
  event: RecordedEvent,
  first: RowsRefused | NotProjectable,
): Promise<readonly Quarantined[]> => {
  try {
    if (first instanceof RowsRefused) {
      await insertAll(writing, [event])
      return []
    }
  } catch (error) {
    if (!isAboutTheEvents(error)) throw error
  }
  return [{ event, reason: first.message }]
}

/** What is read from streams for a batch is held in memory up to this size. */
const MAX_BYTES_READ = 16 * 1024 * 1024

const insertAll = async (writing: Writing, events: readonly RecordedEvent[]) => {
  let projected: ProjectedEvent[] = []
  let bytesRead = 0
  for (const event of events) {
    const whole = await wholeEvent(writing, event)
    projected.push(whole.event)
    bytesRead += whole.bytesRead
    if (bytesRead < MAX_BYTES_READ) continue
    await insertRows(writing, projected)
    projected = []
    bytesRead = 0
  }
  await insertRows(writing, projected)
}

const insertRows = async ({ clickHouse, projections }: Writing, events: readonly ProjectedEvent[]) => {
  for (const projection of projections)
    for (const rows of project(projection, events)) await clickHouse.insert(rows)
}

const project = (projection: Projection, events: readonly ProjectedEvent[]) => {
  try {
    return projection.rowsOf(events)
  } catch (error) {
    throw new NotProjectable(`${projection.name}: ${messageOf(error)}`, { cause: error })
  }
}

const isAboutTheEvents = (error: unknown): error is RowsRefused | NotProjectable =>
  error instanceof RowsRefused || error instanceof NotProjectable

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

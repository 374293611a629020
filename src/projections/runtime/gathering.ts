import { deferred } from './deferred.js'
import { isJsonObject, type Json } from '../../domain/json/json.js'
import type { RecordedEvent } from '../../domain/ports/event-store.js'

/** Bounds of one batch: events, and characters of JSON. */
const MAX_EVENTS = 20_000
const MAX_BYTES = 16 * 1024 * 1024

export interface Batch {
  readonly events: readonly RecordedEvent[]
  /** When the oldest event came here, in milliseconds of a monotonic clock. */
  readonly since: number
}

/** Events that wait for the next insert, between the reading of the log and the writing of rows. */
export const gathering = (now: () => number) => {
  let events: RecordedEvent[] = []
  let bytes = 0
  let since = 0
  let changed = deferred()

  const announce = () => {
    const waiting = changed
    changed = deferred()
    waiting.resolve()
  }

  return {
    add(event: RecordedEvent): void {
      if (events.length === 0) since = now()
      events.push(event)
      bytes += sizeOf(event)
      if (events.length === 1 || events.length >= MAX_EVENTS || bytes >= MAX_BYTES) announce()
    },
    isFull: (): boolean => events.length >= MAX_EVENTS || bytes >= MAX_BYTES,
    count: (): number => events.length,
    isEmpty: (): boolean => events.length === 0,
    since: (): number | undefined => (events.length === 0 ? undefined : since),
    take(): Batch {
      const batch = { events, since }
      events = []
      bytes = 0
      announce()
      return batch
    },
    /** Resolves at the next first event, when full, when taken from, or when somebody announces. */
    change: (): Promise<void> => changed.promise,
    announce,
  }
}

/** What an event weighs: its JSON, and that of the fields that lie elsewhere and come back before it is projected. */
export const sizeOf = ({ data, size }: RecordedEvent): number => {
  const { spilled } = data
  if (!isJsonObject(spilled)) return size
  return Object.values(spilled).reduce<number>((sum, field) => sum + sizeOfBlob(field), size)
}

/** A field that names no blob is told where the event is projected; here it weighs nothing. */
const sizeOfBlob = (field: Json): number =>
  isJsonObject(field) && typeof field['size'] === 'number' ? field['size'] : 0

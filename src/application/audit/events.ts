import { mayRead, mayReadFrom, visibleData } from '../../domain/access/visible.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Principal } from '../principal.js'
import type { EventSeal } from './seals.js'

/** Limits of one response without the administrator key: scanned events and their characters. */
export const MAX_SCANNED = 20_000
const MAX_CHARACTERS = 32 * 1024 * 1024

interface EventsRequest {
  readonly after: Position
  readonly head: Position
  readonly stream: string | undefined
  readonly types: ReadonlySet<string> | undefined
  readonly limit: number | undefined
  /** Reads the events with their salts, in place of their seals. */
  readonly sealOf?: ((event: RecordedEvent) => EventSeal | undefined) | undefined
}

/** The events that the principal may read. Where it stops at its limits, the last is the position to continue after. */
export async function* readableEvents(
  eventStore: EventStore,
  { after, head, stream, types, limit = Infinity, sealOf }: EventsRequest,
  principal: Principal,
): AsyncGenerator<RecordedEvent | Position> {
  // A stream that the principal may not read looks the same as a missing one.
  if (stream !== undefined && !mayReadFrom(principal, stream)) return
  const withSeals = sealOf !== undefined
  const isBounded = !principal.administrator && stream === undefined
  let left = limit
  let scanned = 0
  let characters = 0
  let last = after
  for await (const event of stream === undefined
    ? eventStore.readAll({ after, withSeals })
    : eventStore.readStream(stream, { withUnreadable: true, withSeals })) {
    const { position, type, size } = event
    if (position > head) return
    if (position <= after) continue
    if (isBounded && (scanned === MAX_SCANNED || characters > MAX_CHARACTERS)) {
      yield last
      return
    }
    scanned += 1
    characters += size
    last = position
    if (types?.has(type) === false || !mayRead(principal, event)) continue
    const data = visibleData(principal, event)
    // With the salt, they could guess what they may not see.
    yield { ...event, data, seal: data === event.data ? sealOf?.(event)?.salt : undefined }
    left -= 1
    if (left === 0) return
  }
}

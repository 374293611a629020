import type { EventStore, Position, RecordedEvent } from './ports/event-store.js'

/** Of one batch. */
const AT_ONCE = { events: 4096, characters: 4 * 1024 * 1024 }
/** To read over a gap of this size costs no more than to begin again after it. */
const GAP = 16n

/** The events at some positions, given in log order. Unreadable events are left out. */
export async function* eventsAt(
  eventStore: Pick<EventStore, 'readAll'>,
  positions: readonly Position[],
): AsyncGenerator<readonly RecordedEvent[]> {
  let batch: RecordedEvent[] = []
  let characters = 0
  for (const near of neighbours(positions)) {
    const wanted = new Set(near)
    const [first, last] = [near[0]!, near.at(-1)!]
    for await (const event of eventStore.readAll({ after: first - 1n, limit: Number(last - first) + 1 })) {
      if (event.position > last) break
      if (!wanted.has(event.position) || event.unreadable !== undefined) continue
      batch.push(event)
      characters += event.size
      if (batch.length < AT_ONCE.events && characters < AT_ONCE.characters) continue
      yield batch
      batch = []
      characters = 0
    }
  }
  if (batch.length > 0) yield batch
}

/** Parts of the positions that are read at once. */
function* neighbours(positions: readonly Position[]): Generator<readonly Position[]> {
  let near: Position[] = []
  for (const position of positions) {
    const last = near.at(-1)
    if (last !== undefined && (position - last > GAP || near.length === AT_ONCE.events)) {
      yield near
      near = []
    }
    near.push(position)
  }
  if (near.length > 0) yield near
}

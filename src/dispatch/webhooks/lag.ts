import type { EventStore, Position } from '../../kernel/ports/event-store.js'

interface LagPorts {
  readonly eventStore: Pick<EventStore, 'head' | 'readAll'>
  /** Only this process writes to the log, so that positions count its events. */
  readonly isAlone: boolean
  /** The last event that was read. */
  readonly position: () => Position
  readonly tell: (events: number) => void
}

const EVERY_MS = 15_000
/** Events are counted by reading them if positions have gaps. */
const MOST_COUNTED = 500
const nothing = () => undefined

/** Returns a function to call often: it reports from time to time how many events are still to be read. */
export const watchingLag = ({ eventStore, isAlone, position, tell }: LagPorts) => {
  let toldAt = -Infinity
  let isCounting = false

  const count = async (): Promise<number> => {
    const after = position()
    if (isAlone) return Number((await eventStore.head()) - after)
    const events = eventStore.readAll({ after, limit: MOST_COUNTED })[Symbol.asyncIterator]()
    let behind = 0
    while ((await events.next()).done !== true) behind += 1
    return behind
  }

  return (now: number): void => {
    if (isCounting || now - toldAt < EVERY_MS) return
    toldAt = now
    isCounting = true
    void count()
      .then(tell, nothing)
      .finally(() => (isCounting = false))
  }
}

import type { EventStore } from '../../src/kernel/ports/event-store.js'

/** Milliseconds for which this process has had a processor so far: waiting for one does not count. */
const worked = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

export interface InBetween {
  /** From when the event was given to the log to when its first attempt was in the log, in milliseconds. */
  readonly waited: number
  /** How much this process worked meanwhile, until that attempt was given to the log, in milliseconds. */
  readonly worked: number
}

/** A log that notes what is between an event and the first attempt which it leads to, for the streams that are meant. */
export const notingBetween = (inner: EventStore, isMeant: (stream: string) => boolean) => {
  const begun = new Map<string, { readonly at: number; readonly worked: number }>()
  const noted: InBetween[] = []
  const append: EventStore['append'] = async (stream, expected, events) => {
    const [first] = events
    if (first !== undefined && isMeant(stream))
      begun.set(first.id, { at: performance.now(), worked: worked() })
    const source = first?.type === 'AttemptStarted' ? first.metadata.causationId : ''
    const since = begun.get(source)
    if (since === undefined) return inner.append(stream, expected, events)
    begun.delete(source)
    const workedMeanwhile = worked() - since.worked
    const appended = await inner.append(stream, expected, events)
    noted.push({ waited: performance.now() - since.at, worked: workedMeanwhile })
    return appended
  }
  return { eventStore: { ...inner, append }, noted }
}

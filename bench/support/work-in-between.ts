import type { EventStore } from '../../src/domain/ports/event-store.js'

/** Milliseconds for which this process has had a processor so far: waiting for one does not count. */
const worked = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * A log that notes how much this process works from the append of an event to that of the first attempt which it leads to,
 * in milliseconds, for the streams that are meant.
 */
export const notingWork = (inner: EventStore, isMeant: (stream: string) => boolean) => {
  const since = new Map<string, number>()
  const noted: number[] = []
  const append: EventStore['append'] = (stream, expected, events) => {
    const [first] = events
    if (first !== undefined && isMeant(stream)) since.set(first.id, worked())
    const begun = first?.type === 'AttemptStarted' ? since.get(first.metadata.causationId) : undefined
    if (first !== undefined && begun !== undefined) {
      since.delete(first.metadata.causationId)
      noted.push(worked() - begun)
    }
    return inner.append(stream, expected, events)
  }
  return { eventStore: { ...inner, append }, noted }
}

import type { EventStore } from '../../src/domain/ports/event-store.js'

export interface Watched {
  /** Deliveries that were scheduled, and attempts that succeeded. */
  scheduled: number
  ended: number
  /** From the event to the first attempt, in milliseconds. */
  readonly waited: number[]
}

/** Watches the deliveries of the teams that are meant, from now on; ends with the signal. */
export const watchDeliveries = async (
  store: EventStore,
  signal: AbortSignal,
  isMeant: (team: string) => boolean = () => true,
) => {
  const head = await store.head()
  const seen: Watched = { ended: 0, scheduled: 0, waited: [] }
  const recorded = new Map<string, number>()
  const watch = async () => {
    for await (const item of store.subscribeAll({ after: head, signal })) {
      if (item.kind !== 'event') continue
      const { type, data, stream } = item.event
      if (!isMeant(data['team'] as string)) continue
      if (type === 'DeliveryScheduled') {
        seen.scheduled += 1
        recorded.set(stream, Date.parse(data['scheduled_at'] as string))
      } else if (type === 'AttemptStarted')
        seen.waited.push(Date.parse(data['started_at'] as string) - recorded.get(stream)!)
      else if (type === 'AttemptFinished') {
        if (data['outcome'] !== 'succeeded')
          throw new Error(`an attempt ended with ${data['error'] as string}`)
        recorded.delete(stream)
        seen.ended += 1
      }
    }
  }
  return { seen, watched: watch() }
}

import type { EventStore } from '../../src/kernel/ports/event-store.js'

interface WatchedDeliveries {
  scheduled: number
  /** Attempts that succeeded. */
  ended: number
  /** From the event to the first attempt, in milliseconds. */
  readonly waited: number[]
}

/** Watches the deliveries of a team, or of all, from now on; ends with the signal. */
export const watchDeliveries = async (store: EventStore, signal: AbortSignal, team?: string) => {
  const head = await store.head()
  const seen: WatchedDeliveries = { ended: 0, scheduled: 0, waited: [] }
  const scheduledAt = new Map<string, number>()
  const watch = async () => {
    for await (const item of store.subscribeAll({ after: head, signal })) {
      if (item.kind !== 'event') continue
      const { type, data, stream } = item.event
      if (team !== undefined && data['team'] !== team) continue
      if (type === 'DeliveryScheduled') {
        seen.scheduled += 1
        scheduledAt.set(stream, Date.parse(data['scheduled_at'] as string))
      } else if (type === 'AttemptStarted')
        seen.waited.push(Date.parse(data['started_at'] as string) - scheduledAt.get(stream)!)
      else if (type === 'AttemptFinished') {
        if (data['outcome'] !== 'succeeded')
          throw new Error(`an attempt ended with ${data['error'] as string}`)
        scheduledAt.delete(stream)
        seen.ended += 1
      }
    }
  }
  return { seen, watched: watch() }
}

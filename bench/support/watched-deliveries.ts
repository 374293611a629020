import type { EventStore } from '../../src/kernel/ports/event-store.js'

export interface Watched {
  /** Deliveries that were scheduled, and attempts that succeeded. */
  scheduled: number
  ended: number
  /** From the event to the first attempt, in milliseconds. */
  readonly waited: number[]
  /** Deliveries of other teams that were scheduled. */
  scheduledOfOthers: number
  /** How many deliveries of other teams the log has from the event to the first attempt. */
  readonly overtaken: number[]
  /** Attempts of other teams that ended. */
  endedOfOthers: number
}

/** Watches the deliveries of a team, or of all, from now on; ends with the signal. */
export const watchDeliveries = async (store: EventStore, signal: AbortSignal, team?: string) => {
  const head = await store.head()
  const seen: Watched = {
    ended: 0,
    scheduled: 0,
    waited: [],
    scheduledOfOthers: 0,
    overtaken: [],
    endedOfOthers: 0,
  }
  const sources = new Map<string, number>()
  const waiting = new Map<string, { readonly since: number; readonly othersBefore: number }>()
  const watch = async () => {
    for await (const item of store.subscribeAll({ after: head, signal })) {
      if (item.kind !== 'event') continue
      const { id, type, data, stream } = item.event
      if (team !== undefined && data['team'] !== team) {
        if (type === 'DeliveryScheduled') seen.scheduledOfOthers += 1
        if (type === 'AttemptFinished') seen.endedOfOthers += 1
      } else if (type === 'DeliveryScheduled') {
        seen.scheduled += 1
        const source = (data['source'] as { readonly event_id: string }).event_id
        waiting.set(stream, {
          since: Date.parse(data['scheduled_at'] as string),
          othersBefore: sources.get(source) ?? seen.scheduledOfOthers,
        })
        sources.delete(source)
      } else if (type === 'AttemptStarted') {
        const { since, othersBefore } = waiting.get(stream)!
        seen.waited.push(Date.parse(data['started_at'] as string) - since)
        seen.overtaken.push(seen.scheduledOfOthers - othersBefore)
      } else if (type === 'AttemptFinished') {
        if (data['outcome'] !== 'succeeded')
          throw new Error(`an attempt ended with ${data['error'] as string}`)
        waiting.delete(stream)
        seen.ended += 1
      } else if (!stream.startsWith('delivery-')) sources.set(id, seen.scheduledOfOthers)
    }
  }
  return { seen, watched: watch() }
}

import { completed, needsEarlierEvents } from '../../src/projections/calls/complete.js'
import type { ProjectedEvent } from '../../src/projections/projection.js'

/** Completes events in log order from the streams of their calls, as the projector does. */
export const eventCompleter = () => {
  const streams = new Map<string, ProjectedEvent[]>()
  return (event: ProjectedEvent): ProjectedEvent => {
    const { project_id, id } = event.data as { readonly project_id: string; readonly id: string }
    const stream = streams.get(`${project_id}/${id}`) ?? []
    streams.set(`${project_id}/${id}`, stream)
    const isIncomplete = needsEarlierEvents(event.type, event.data, BigInt(stream.length))
    const whole = isIncomplete ? completed(event, [...stream]) : event
    stream.push(event)
    return whole
  }
}

export const completedEvents = (events: readonly ProjectedEvent[]): readonly ProjectedEvent[] =>
  events.map(eventCompleter())

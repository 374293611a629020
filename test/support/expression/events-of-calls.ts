import type { ProjectedEvent } from '../../../src/projections/projection.js'
import { completedEvents } from '../completed-events.js'
import type { Call } from './call.js'

/** The log that tells of calls and the feedback on them, in the order of its positions. */
export const eventsOfCalls = (calls: readonly Call[]): readonly ProjectedEvent[] =>
  completedEvents(calls.flatMap(eventsOf).toSorted((a, b) => Number(a.position - b.position)))

const eventsOf = (call: Call): readonly ProjectedEvent[] => {
  const { project_id, id, started, end, renamed, deleted, feedback, at, ...start } = call
  const ofCall = { project_id, id }
  const event = (type: string, position: number, data: object): ProjectedEvent => ({
    type,
    position: BigInt(position),
    data: { ...ofCall, ...data },
  })
  const nothing = { turn_id: null, otel_dump: null, source: null, end: null }
  return [
    // A call that is deleted before its start never starts.
    ...(deleted !== null && deleted < started
      ? []
      : [event('CallStarted', started, { ...start, ...nothing, started_at: instantOf(at) })]),
    ...(end === null
      ? []
      : [
          event('CallEnded', end.position, {
            ...end,
            ended_at: instantOf(end.at),
            wb_run_step_end: null,
            usage: { models: [], status_total: null },
            start: null,
          }),
        ]),
    ...(renamed === null
      ? []
      : [event('CallRenamed', renamed.position, { display_name: renamed.name || null })]),
    ...(deleted === null ? [] : [event('CallDeleted', deleted, {})]),
    ...feedback.flatMap((one) => [
      event('FeedbackGiven', one.position, {
        id: one.id,
        weave_ref: `weave:///${project_id}/call/${id}`,
        feedback_type: one.type,
        creator: one.creator,
        payload: one.payload,
        created_at: instantOf(one.at),
      }),
      ...(one.purged === null ? [] : [event('FeedbackPurged', one.purged, { id: one.id })]),
    ]),
  ]
}

const instantOf = (microseconds: number): string => {
  const milliseconds = Math.floor(microseconds / 1000)
  const rest = String(microseconds - milliseconds * 1000).padStart(3, '0')
  return `${new Date(milliseconds).toISOString().slice(0, 23)}${rest}Z`
}

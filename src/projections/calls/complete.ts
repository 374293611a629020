import { knownStartOf, type CallEnded, type CallEvent, type CallStarted } from '../../domain/calls/call.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import type { FieldTexts, ProjectedEvent } from '../projection.js'
import type { Naming } from './columns.js'

/** A start whose end or names came before it. `position` is that of the end. */
export interface CompletedStart extends Omit<CallStarted, 'end'> {
  readonly end: CallStarted['end'] | (CallEnded & { readonly position: string; readonly texts: FieldTexts })
  readonly names?: readonly Naming[]
}

type Positioned = CallEvent & Pick<ProjectedEvent, 'position' | 'texts'>

/** Whether a row of `calls` needs earlier events of the call's stream, because every row has the time of the start. */
export const needsEarlierEvents = (type: string, data: unknown, revision: bigint): boolean => {
  if (revision === 0n) return false
  switch (type) {
    case 'CallStarted':
      return true
    case 'CallEnded':
      return lacks(data, 'start')
    case 'CallRenamed':
    case 'CallDeleted':
      return lacks(data, 'started_at')
    default:
      return false
  }
}

const lacks = (data: unknown, field: string): boolean =>
  ((data as Readonly<Record<string, unknown>> | null)?.[field] ?? null) === null

/**
 * The event with what the call's rows need of earlier events of its stream, in their order and whole: a start gets the
 * end and the names before it, other events get the time of the start.
 */
export const completed = (event: ProjectedEvent, earlier: readonly ProjectedEvent[]): ProjectedEvent => {
  const { type, data } = event as Positioned
  const before = earlier as readonly Positioned[]
  if (type === 'CallStarted') {
    const end = before.find((one) => one.type === 'CallEnded')
    const names = before.flatMap((one): Naming[] =>
      one.type === 'CallRenamed' ? [[String(one.position), one.data.display_name ?? '']] : [],
    )
    // The usage in the start was read with what is known of the call.
    const usage = data.end?.usage ?? end?.data.usage
    const { position, texts = {} } = end ?? {}
    const whole = end && withDigitsOf(end.data, { ...end.data, usage, position: String(position), texts })
    return { ...event, data: withDigitsOf(data, { ...data, end: whole ?? data.end, names }) }
  }
  const start = before.find((one) => one.type === 'CallStarted')?.data
  if (start === undefined) return event
  if (type === 'CallEnded')
    return { ...event, data: withDigitsOf(data, { ...data, start: knownStartOf(start) }) }
  return { ...event, data: { ...data, started_at: start.started_at } }
}

import { deliveryStream } from '../../domain/webhooks/deliveries/events.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import { ConcurrencyConflict, EventTooLarge } from '../../kernel/ports/event-store-errors.js'
import type { Log } from '../../kernel/ports/log.js'
import { appendEvent, type AppendDeps } from './append-event.js'
import type { ScheduleEvent } from './schedule-event.js'

/**
 * Deliveries to schedule, in the state until the log has them: matching need not wait for the appends, and none is lost
 * if the process dies. Repeated appends are harmless: the delivery id is the stream, and the expected revision is `none`.
 */
export interface Outbox {
  /** All deliveries of an event at once. Events come in the order of the log. */
  readonly put: (schedulings: readonly ScheduleEvent[]) => void
  /** The log has it. */
  readonly remove: (scheduled: ScheduledKey) => void
  /** Appends what was put before, and from now on what is put. */
  readonly open: () => void
}

type ScheduledKey = Pick<ScheduleEvent['data'], 'delivery_id' | 'source'>

const MAX_CONCURRENT = 64
const KIND = 'outbox'
/** Longer than the log takes to deliver what was appended. */
const REPEAT_AFTER_MS = 10_000

export const openOutbox = (
  state: Pick<DispatcherState, 'put' | 'remove' | 'some'>,
  {
    log,
    onFailure,
    signal,
    repeatAfterMs = REPEAT_AFTER_MS,
    ...ports
  }: AppendDeps & {
    readonly log: Pick<Log, 'error'>
    readonly onFailure: (error: unknown) => void
    readonly signal: AbortSignal
    readonly repeatAfterMs?: number
  },
): Outbox => {
  let isOpen = false
  let inFlight = 0
  /** The key of the last one whose append started. */
  let last = ''
  let page: ScheduleEvent[] = []
  let repeating: NodeJS.Timeout | undefined

  const next = (): ScheduleEvent | undefined => {
    if (page.length === 0)
      page = state.some(KIND, MAX_CONCURRENT, last).map(([, value]) => value as ScheduleEvent)
    const found = page.shift()
    if (found !== undefined) last = keyOf(found.data)
    return found
  }
  const remove = (scheduled: ScheduledKey) => state.remove(KIND, keyOf(scheduled))
  const append = async ({ type, data }: ScheduleEvent): Promise<void> => {
    const { delivery_id, source } = data
    try {
      // Matching does not wait for it, so it can try until the log is back.
      const keepTrying = () => !signal.aborted
      await appendEvent(ports, deliveryStream(delivery_id), 'none', { type, data }, source.event_id, {
        keepTrying,
      })
    } catch (error) {
      // A conflict: the log already has it.
      if (error instanceof ConcurrencyConflict || signal.aborted) return
      if (error instanceof EventTooLarge) {
        log.error('dispatcher.schedule_failed', { delivery: delivery_id, error: error.name })
        remove(data)
      } else onFailure(error)
    }
  }
  const pump = () => {
    try {
      while (isOpen && inFlight < MAX_CONCURRENT && !signal.aborted) {
        const scheduling = next()
        if (scheduling === undefined) return
        inFlight += 1
        void append(scheduling).then(() => {
          inFlight -= 1
          repeating ??= setTimeout(repeat, repeatAfterMs).unref()
          pump()
        })
      }
    } catch (error) {
      onFailure(error)
    }
  }

  /** In case the log did not store what is still there although it reported a conflict or a success. */
  const repeat = () => {
    repeating = undefined
    if (inFlight > 0) return
    last = ''
    pump()
  }

  return {
    put: (schedulings) => {
      for (const scheduling of schedulings) state.put(KIND, keyOf(scheduling.data), scheduling)
      pump()
    },
    remove,
    open: () => {
      isOpen = true
      pump()
    },
  }
}

const POSITION_DIGITS = 20

/** Ordered by the position of the event that fired the automation, so that keys put later are greater. */
const keyOf = ({ source, delivery_id }: ScheduledKey): string =>
  `${source.position.padStart(POSITION_DIGITS, '0')} ${delivery_id}`

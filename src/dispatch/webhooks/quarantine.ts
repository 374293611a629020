import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import { Unavailable } from './blame.js'

/** Events that cannot be taken, today or later: they are passed over, so that matching goes on behind them. */
export interface Quarantine {
  /** Takes an event, or remembers that it is passed over; what it throws is to be tried again. */
  readonly take: (event: RecordedEvent) => Promise<void>
  readonly count: () => number
}

/** The fault lies in the event, and it is tried again. */
export class EventFailed extends Error {
  override readonly name = 'EventFailed'
}

const KIND = 'quarantine'
const TRIES = 3

export const openQuarantine = (
  takeIt: (event: RecordedEvent) => Promise<void>,
  state: Pick<DispatcherState, 'put' | 'all'>,
  log: Pick<Log, 'error'>,
): Quarantine => {
  /** By their positions: how often they failed, and with what kind of error. */
  const failed = new Map<Position, { readonly tries: number; readonly error: string }>()

  return {
    take: async (event) => {
      const { id, type, position } = event
      const before = failed.get(position)
      if (before !== undefined && before.tries >= TRIES) {
        state.put(KIND, String(position), { event_id: id, type, error: before.error })
        return
      }
      try {
        await takeIt(event)
        failed.delete(position)
      } catch (cause) {
        if (cause instanceof Unavailable) throw cause
        // Its message may quote values.
        const error = cause instanceof Error ? cause.name : 'unknown'
        const tries = (before?.tries ?? 0) + 1
        failed.set(position, { tries, error })
        const isOver = tries === TRIES
        log.error(isOver ? 'dispatcher.event_quarantined' : 'dispatcher.event_failed', {
          event: id,
          position: String(position),
          type,
          error,
          tries,
        })
        throw new EventFailed(error, { cause })
      }
    },
    count: () => [...state.all(KIND)].length,
  }
}

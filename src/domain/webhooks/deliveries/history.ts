import type { Instant } from '../../../kernel/codec/instant.js'
import type { RecordedEvent } from '../../../kernel/ports/event-store.js'
import type { DeliveryEvent, DeliveryScheduled } from './events.js'
import { evolve, initialState, type DeliveryState } from './state.js'
import { instantOf } from '../../../kernel/codec/instant.js'

type Data<Type extends DeliveryEvent['type']> = Extract<DeliveryEvent, { type: Type }>['data']

/** One attempt as of the log. */
export interface AttemptHistory {
  readonly started: Data<'AttemptStarted'>
  /** Null while it is in flight, and if its outcome is unknown. */
  readonly finished: Data<'AttemptFinished'> | null
  readonly isUnknown: boolean
  /** When the log recorded its end. */
  readonly endedAt: Instant | null
}

/** A delivery as of its stream. */
export interface DeliveryHistory {
  readonly state: DeliveryState
  readonly scheduled: DeliveryScheduled | null
  readonly suppressed: Data<'DeliverySuppressed'> | null
  /** The newest attempts of the requested range, in order. */
  readonly attempts: readonly AttemptHistory[]
  /** Whether older attempts were left out. */
  readonly hasEarlier: boolean
  /** When the last event was recorded. */
  readonly at: Instant
}

/** Selects at most `most` attempts, all numbered below `before`. */
export interface AttemptRange {
  readonly most: number
  readonly before: number
}

/** Folds a delivery's stream with a bounded number of attempts; null for an empty stream. */
export const deliveryHistory = async (
  events: AsyncIterable<RecordedEvent>,
  { most, before }: AttemptRange,
): Promise<DeliveryHistory | null> => {
  const attempts = new Map<number, AttemptHistory>()
  const end = (attempt: number, how: Partial<AttemptHistory>) => {
    const begun = attempts.get(attempt)
    if (begun !== undefined) attempts.set(attempt, { ...begun, ...how })
  }
  let about: Omit<DeliveryHistory, 'attempts'> | null = null
  for await (const { type, data, recordedAt } of events) {
    const event = { type, data } as DeliveryEvent
    const at = instantOf(recordedAt)
    about = { ...(about ?? nothingYet), at, state: evolve((about ?? nothingYet).state, event) }
    if (event.type === 'DeliveryScheduled') about = { ...about, scheduled: event.data }
    else if (event.type === 'DeliverySuppressed') about = { ...about, suppressed: event.data }
    else if (event.type === 'AttemptFinished') end(event.data.attempt, { finished: event.data, endedAt: at })
    else if (event.type === 'AttemptOutcomeUnknown') end(event.data.attempt, { isUnknown: true, endedAt: at })
    else if (event.type === 'AttemptStarted' && event.data.attempt < before) {
      attempts.set(event.data.attempt, {
        started: event.data,
        finished: null,
        isUnknown: false,
        endedAt: null,
      })
      const [oldest] = attempts.keys()
      if (attempts.size <= most || oldest === undefined) continue
      attempts.delete(oldest)
      about = { ...about, hasEarlier: true }
    }
  }
  return about === null ? null : { ...about, attempts: [...attempts.values()] }
}

const nothingYet = { state: initialState, scheduled: null, suppressed: null, hasEarlier: false }

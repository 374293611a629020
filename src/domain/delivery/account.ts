import type { Instant } from '../codec/instant.js'
import type { RecordedEvent } from '../ports/event-store.js'
import type { DeliveryEvent, DeliveryScheduled } from './events.js'
import { evolve, initialState, type DeliveryState } from './state.js'
import { instantOf } from '../codec/instant.js'

type Data<Type extends DeliveryEvent['type']> = Extract<DeliveryEvent, { type: Type }>['data']

/** One attempt as the log tells it. */
export interface AttemptAccount {
  readonly started: Data<'AttemptStarted'>
  /** Null while it is under way, and where nobody knows what became of it. */
  readonly finished: Data<'AttemptFinished'> | null
  readonly isUnknown: boolean
  /** When the log recorded its end. */
  readonly endedAt: Instant | null
}

/** All that a delivery's own events say. */
export interface Account {
  readonly state: DeliveryState
  readonly scheduled: DeliveryScheduled | null
  readonly suppressed: Data<'DeliverySuppressed'> | null
  readonly attempts: readonly AttemptAccount[]
  /** When the last event was recorded. */
  readonly at: Instant
}

/** Folds a delivery's stream; null where there is nothing. */
export const accountOf = async (events: AsyncIterable<RecordedEvent>): Promise<Account | null> => {
  let account: Account | null = null
  for await (const event of events) account = after(account ?? nothingYet(event), event)
  return account
}

const nothingYet = ({ recordedAt }: RecordedEvent): Account => ({
  state: initialState,
  scheduled: null,
  suppressed: null,
  attempts: [],
  at: instantOf(recordedAt),
})

const after = (account: Account, { type, data, recordedAt }: RecordedEvent): Account => {
  const event = { type, data } as unknown as DeliveryEvent
  const at = instantOf(recordedAt)
  const next = { ...account, at, state: evolve(account.state, event) }
  switch (event.type) {
    case 'DeliveryScheduled':
      return { ...next, scheduled: event.data }
    case 'DeliverySuppressed':
      return { ...next, suppressed: event.data }
    case 'AttemptStarted': {
      const begun = { started: event.data, finished: null, isUnknown: false, endedAt: null }
      return { ...next, attempts: [...account.attempts, begun] }
    }
    case 'AttemptFinished':
      return { ...next, attempts: ended(account, event.data.attempt, { finished: event.data, endedAt: at }) }
    case 'AttemptOutcomeUnknown':
      return { ...next, attempts: ended(account, event.data.attempt, { isUnknown: true, endedAt: at }) }
    default:
      return next
  }
}

const ended = (
  { attempts }: Account,
  attempt: number,
  end: Partial<AttemptAccount>,
): readonly AttemptAccount[] =>
  attempts.map((one) => (one.started.attempt === attempt ? { ...one, ...end } : one))

import { deliveryDecider } from '../../domain/webhooks/deliveries/decider.js'
import { deliveryStream } from '../../domain/webhooks/deliveries/events.js'
import { instantAt, millisOf } from '../../domain/webhooks/deliveries/times.js'
import type { Clock } from '../../kernel/ports/clock.js'
import type { DispatcherState, OpenEntry } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { Endpoint } from './endpoint.js'
import { record, type Recording } from './recording.js'

interface Losing extends Recording {
  readonly state: Pick<DispatcherState, 'inFlight'>
  readonly clock: Clock
  readonly instance: string
  /** Nobody but this process can have the log open: whoever began an attempt before is gone. */
  readonly isAlone: boolean
  readonly webhook: (id: string) => Endpoint | undefined
  readonly isUnderWay: (deliveryId: string) => boolean
  readonly onLost: () => void
}

const GRACE_MS = 5000

/**
 * Says of attempts whose sender is gone that nobody knows what became of them: at once where the lock of the log proves
 * it, otherwise some seconds after they should have ended. Whoever still has an end to tell is then too late.
 */
export const losing = (given: Losing) => {
  /** Attempts of other processes, and when this one first saw them in flight, by a clock that is never corrected. */
  let seen = new Map<string, number>()

  return async (): Promise<void> => {
    const now = given.clock.now().getTime()
    const elapsed = performance.now()
    const before = seen
    seen = new Map()
    const isLost = ({ id, delivery }: OpenEntry) => {
      if (delivery.phase !== 'in_flight' || given.isUnderWay(id)) return false
      const attempt = `${id}/${delivery.attempts}`
      const since = before.get(attempt) ?? elapsed
      seen.set(attempt, since)
      const deadline = millisOf(delivery.deadlineAt)
      return (
        (given.isAlone && delivery.instance !== given.instance) ||
        now > deadline + GRACE_MS ||
        elapsed - since > deadline - millisOf(delivery.startedAt) + GRACE_MS
      )
    }
    await Promise.all(
      given.state
        .inFlight()
        .filter(isLost)
        .map((entry) => lose(given, entry, now)),
    )
  }
}

const lose = async (given: Losing, { id, delivery, revision }: OpenEntry, now: number): Promise<void> => {
  const waitsS = given.webhook(delivery.webhook)?.content.retry_waits_s ?? null
  const [event] = deliveryDecider.decide(delivery, {
    type: 'LoseAttempt',
    deliveryId: id,
    attempt: delivery.attempts,
    now: instantAt(now),
    waitsS,
  }).events
  if (event === undefined) return
  try {
    await record(given, deliveryStream(id), revision, event, id, { tries: 1 })
    given.onLost()
  } catch {
    // It has ended meanwhile, or the next round says it.
  }
}

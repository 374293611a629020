import { deliveryDecider } from '../../domain/webhooks/deliveries/decider.js'
import { deliveryStream } from '../../domain/webhooks/deliveries/events.js'
import { instantAt, millisOf } from '../../domain/webhooks/deliveries/times.js'
import type { Clock } from '../../kernel/ports/clock.js'
import type { DispatcherState, OpenEntry } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { Endpoint } from './endpoint.js'
import { appendEvent, type AppendDeps } from './append-event.js'

interface LostAttemptDeps extends AppendDeps {
  readonly state: Pick<DispatcherState, 'inFlight'>
  readonly clock: Clock
  readonly instance: string
  /** Only this process can have the log open: attempts of other instances are lost. */
  readonly isAlone: boolean
  readonly webhook: (id: string) => Endpoint | undefined
  readonly isRunning: (deliveryId: string) => boolean
  readonly onLost: () => void
}

const GRACE_MS = 5000

/**
 * Records the outcome of attempts as unknown if their process is gone: at once if the lock of the log proves it, otherwise
 * some seconds after their deadline. A result that arrives later meets a conflict.
 */
export const recordingLostAttempts = (given: LostAttemptDeps) => {
  /** When this process first saw attempts of others in flight, by the monotonic clock. */
  let seen = new Map<string, number>()

  return async (): Promise<void> => {
    const now = given.clock.now().getTime()
    const elapsed = performance.now()
    const before = seen
    seen = new Map()
    const isLost = ({ id, delivery }: OpenEntry) => {
      if (delivery.phase !== 'in_flight' || given.isRunning(id)) return false
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

const lose = async (
  given: LostAttemptDeps,
  { id, delivery, revision }: OpenEntry,
  now: number,
): Promise<void> => {
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
    await appendEvent(given, deliveryStream(id), revision, event, id, { tries: 1 })
    given.onLost()
  } catch {
    // It has ended, or the next round records it.
  }
}

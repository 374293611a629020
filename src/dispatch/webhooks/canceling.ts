import { deliveryDecider } from '../../domain/webhooks/deliveries/decider.js'
import { deliveryStream } from '../../domain/webhooks/deliveries/events.js'
import type { DispatcherState, OpenEntry } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import { appendEvent, type AppendDeps } from './append-event.js'

const AT_ONCE = 200
const AGAIN_MS = 1000

/** Cancels the waiting messages of deleted webhooks; an attempt in progress ends by itself. */
export const canceling = (
  ports: AppendDeps,
  state: Pick<DispatcherState, 'deliveriesOf'>,
  wake: (webhook: string) => void,
): ((webhook: string) => void) => {
  const inProgress = new Set<string>()

  const cancel = async ({ id, delivery, revision }: OpenEntry): Promise<void> => {
    const [event] = deliveryDecider.decide(delivery, {
      type: 'CancelDelivery',
      deliveryId: id,
      reason: 'webhook_deleted',
    }).events
    if (event === undefined) return
    try {
      await appendEvent(ports, deliveryStream(id), revision, event, id, { tries: 1 })
    } catch {
      // A conflict: another event of the delivery arrives soon.
    }
  }

  return (webhook) => {
    if (inProgress.has(webhook)) return
    const waiting = state.deliveriesOf(webhook, AT_ONCE)
    if (waiting.length === 0) return
    inProgress.add(webhook)
    void Promise.all(waiting.map(cancel)).then(() => {
      setTimeout(() => {
        inProgress.delete(webhook)
        wake(webhook)
      }, AGAIN_MS).unref()
    })
  }
}

import { isReceiverUp } from '../../domain/webhooks/deliveries/classify.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import type { Automations } from './automations.js'
import type { Directory } from './directory.js'
import type { HealthReports } from './health.js'
import { deliveryIn, type Ledger } from './ledger.js'
import type { Matched } from './matching.js'
import type { Measures } from './measures.js'
import type { Outbox } from './outbox.js'
import type { Prices } from './prices.js'
import { schedulingsOf } from './scheduling.js'
import type { SecretVersions } from './secret-versions.js'
import type { Sender } from './sending.js'
import type { Scheduled } from './unscheduled.js'

export interface Folding {
  readonly sha256: Sha256
  readonly state: Pick<DispatcherState, 'delivery'>
  readonly match: (event: RecordedEvent) => Promise<readonly Matched[]>
  readonly directory: Directory
  readonly automations: Automations
  readonly prices: Pick<Prices, 'apply'>
  readonly secrets: SecretVersions
  readonly ledger: Ledger
  readonly outbox: Outbox
  readonly sender: Pick<Sender, 'wake' | 'reset' | 'closeBreaker'>
  readonly health: Pick<HealthReports, 'note'>
  readonly measures: Pick<Measures, 'matched' | 'suppressed'>
}

/** After these, what was learnt of a webhook's receiver no longer counts. */
const RESETTING = new Set(['WebhookChanged', 'WebhookEnabled', 'WebhookReleased', 'WebhookDeleted'])

/** Takes one event of the log: what it makes fire is put out to be scheduled, then it changes what is known. */
export const folding =
  (given: Folding) =>
  async (event: RecordedEvent): Promise<void> => {
    await schedule(given, event)
    switch (event.stream.slice(0, event.stream.indexOf('-'))) {
      case 'webhook': {
        const id = event.stream.slice('webhook-'.length)
        given.directory.apply(event)
        if (RESETTING.has(event.type)) given.sender.reset(id)
        given.sender.wake(id)
        given.health.note(id)
        return
      }
      case 'webhook_health': {
        given.directory.noteReport(event)
        return
      }
      case 'automation': {
        given.automations.apply(event)
        return
      }
      case 'price': {
        given.prices.apply(event)
        return
      }
      case 'secret': {
        given.secrets.apply(event)
        return
      }
      case 'delivery':
        return fold(given, event)
      default:
    }
  }

const schedule = async (given: Folding, event: RecordedEvent): Promise<void> => {
  const began = performance.now()
  const matches = await given.match(event)
  given.measures.matched(matches.length, (performance.now() - began) / 1000)
  if (matches.length === 0) return
  const delivery = deliveryIn(event.stream)
  const depth = delivery === undefined ? 0 : (given.state.delivery(delivery)?.delivery.depth ?? 0)
  const schedulingOf = schedulingsOf(given.sha256, event, depth)
  for (const matched of matches) {
    // A message to a webhook that was deleted before the event is nobody's.
    if (given.directory.get(matched.automation.content.webhook) === undefined) continue
    const scheduling = schedulingOf(matched)
    if (scheduling.type === 'DeliverySuppressed') given.measures.suppressed(scheduling.data.reason)
    given.outbox.put(scheduling)
  }
  await given.outbox.pause()
}

const fold = async (
  { ledger, outbox, directory, sender, health }: Folding,
  event: RecordedEvent,
): Promise<void> => {
  const { type, data, recordedAt } = event
  const change = await ledger.apply(event)
  if (change === undefined) return
  const { before, after } = change
  if (type === 'DeliveryScheduled' || type === 'DeliverySuppressed') outbox.seen(data as unknown as Scheduled)
  if (before?.delivery.phase === 'in_flight' && type === 'AttemptFinished' && hasLeft(data)) {
    const { throttled_until: until, error, status } = data
    const receiverUp = isReceiverUp(typeof status === 'number' ? status : null)
    directory.noteAttempt(before.delivery.webhook, {
      revision: before.delivery.webhookRevision,
      receiverUp,
      error: typeof error === 'string' ? error : typeof status === 'number' ? `status ${status}` : 'unknown',
      at: recordedAt.getTime(),
      throttledUntil: !receiverUp && typeof until === 'string' ? Date.parse(until) : null,
      timedOut: typeof error === 'string' && error.startsWith('timeout:'),
    })
    health.note(before.delivery.webhook)
  }
  if (
    type === 'DeliveryResent' &&
    after.phase === 'pending' &&
    directory.noteResend(after.webhook, event.metadata.correlationId, recordedAt.getTime())
  ) {
    sender.closeBreaker(after.webhook)
    health.note(after.webhook)
  }
  if (after.phase === 'pending' || after.phase === 'retrying') sender.wake(after.webhook)
}

/** What was not sent at all tells nothing of a receiver. */
const hasLeft = ({ body_digest: digest, reason }: RecordedEvent['data']): boolean =>
  typeof digest === 'string' && reason !== 'forbidden_address'

import type { RecordedEvent } from '../../../../kernel/ports/event-store.js'
import { artifactTrigger } from './artifacts.js'
import { callTrigger } from './calls.js'
import { evaluationTrigger, scoreTrigger } from './evaluations.js'
import { runTrigger } from './runs.js'
import type { Trigger, BudgetTrigger, DeliveryTrigger, WebhookTrigger } from './trigger.js'
import { limitEvents, limitsStream } from '../../../gateway/limits/limits.js'
import { amountFrom, numberFrom } from '../../../prices/decimal.js'
import { decodeData, envelopeOf } from './decode-data.js'
import { deliveryEvents, deliveryStream } from '../../deliveries/events.js'
import { webhookEvents, webhookStream } from '../../webhook.js'

/** The trigger of a budget that reached a level. */
const budgetTrigger = (event: RecordedEvent): BudgetTrigger | undefined => {
  if (event.type !== 'BudgetReached') return undefined
  const data = decodeData(limitEvents.BudgetReached, event)
  if (data === undefined || limitsStream(data.team) !== event.stream) return undefined
  const { team, scope, level, spent, budget } = data
  const [part, whole] = [amountFrom(spent), amountFrom(budget.amount)]
  return {
    kind: 'budget',
    ...envelopeOf(event),
    team,
    types: ['BUDGET_REACHED'],
    project: scope.project,
    of: scope.type,
    level,
    spent: whole === 0n ? 100 : numberFrom((part * 100n * ONE) / whole),
  }
}

const ONE = amountFrom('1')

/** The trigger of a webhook that was disabled, or has failed for hours. */
const webhookTrigger = (event: RecordedEvent): WebhookTrigger | undefined => {
  if (event.type === 'WebhookFailing') {
    const data = decodeData(webhookEvents.WebhookFailing, event)
    if (data === undefined || webhookStream(data.id) !== event.stream) return undefined
    const { id: webhook_id, team, depth, hours } = data
    const reason = `failing_for_${hours}_hours`
    const common = { kind: 'webhook', ...envelopeOf(event), team, depth, webhook_id, reason } as const
    return { ...common, types: ['WEBHOOK_FAILING'] }
  }
  if (event.type !== 'WebhookDisabled') return undefined
  const data = decodeData(webhookEvents.WebhookDisabled, event)
  if (data === undefined || webhookStream(data.id) !== event.stream) return undefined
  const { id: webhook_id, team, depth, reason } = data
  return {
    kind: 'webhook',
    ...envelopeOf(event),
    team,
    depth,
    types: ['WEBHOOK_DISABLED'],
    webhook_id,
    reason,
  }
}

/** The trigger of a delivery's last attempt, if it failed. */
const deliveryTrigger = (event: RecordedEvent): DeliveryTrigger | undefined => {
  // Most attempts succeed: skip decoding them.
  if (event.type !== 'AttemptFinished' || event.data['outcome'] !== 'dead') return undefined
  const data = decodeData(deliveryEvents.AttemptFinished, event)
  if (data === undefined || deliveryStream(data.delivery_id) !== event.stream) return undefined
  const { delivery_id, team, reason } = data
  return {
    kind: 'delivery',
    ...envelopeOf(event),
    team,
    depth: null,
    types: ['DELIVERY_DEAD'],
    delivery_id,
    reason,
  }
}

const BY_PREFIX: Readonly<Record<string, (event: RecordedEvent) => Trigger | undefined>> = {
  artifact: artifactTrigger,
  registered: artifactTrigger,
  run: runTrigger,
  call: callTrigger,
  webhook: webhookTrigger,
  delivery: deliveryTrigger,
  limits: budgetTrigger,
  evaluation: evaluationTrigger,
  feedback: scoreTrigger,
}

/** The trigger of an event; undefined if no automation can watch its type, or if its data does not match its stream. */
export const triggerOf = (event: RecordedEvent): Trigger | undefined => {
  const prefix = event.stream.slice(0, event.stream.indexOf('-'))
  return Object.hasOwn(BY_PREFIX, prefix) ? BY_PREFIX[prefix]!(event) : undefined
}

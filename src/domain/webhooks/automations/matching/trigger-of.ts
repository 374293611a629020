import type { RecordedEvent } from '../../../../kernel/ports/event-store.js'
import { artifactTrigger } from './artifacts.js'
import { budgetTrigger } from './budgets.js'
import { callTrigger } from './calls.js'
import { deliveryTrigger, webhookTrigger } from './deliveries.js'
import { evaluationTrigger, scoreTrigger } from './evaluations.js'
import { runTrigger } from './runs.js'
import type { Trigger } from './trigger.js'

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

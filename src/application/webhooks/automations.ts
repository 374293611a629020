import * as E from 'fp-ts/lib/Either.js'
import { definedFields } from '../../kernel/defined-fields.js'
import type { Cause } from '../../kernel/event.js'
import { automationDecider, type Automation } from '../../domain/webhooks/automations/decider.js'
import {
  automationStream,
  condition,
  type AutomationCondition,
  type AutomationContent,
} from '../../domain/webhooks/automations/events.js'
import type { WatchConfig } from '../../domain/webhooks/automations/watch-config.js'
import { checkedContent, findWebhook, findWebhookAtCreation, type ValidationPorts } from './checks.js'
import { automationById } from './current-state.js'
import { namedResources } from './names.js'

const automations = namedResources({
  kind: 'automation',
  decider: automationDecider,
  stream: automationStream,
  create: (automation: { id: string; team: string; content: AutomationContent; enabled: boolean }) =>
    ({ type: 'CreateAutomation', ...automation }) as const,
  change: (changed) => ({ type: 'ChangeAutomation', ...changed }) as const,
  remove: (automation) => ({ type: 'DeleteAutomation', ...automation }) as const,
})

export const deleteAutomation = automations.remove

interface NewAutomation extends WatchConfig, Pick<AutomationContent, 'name' | 'description' | 'payload'> {
  readonly id: string
  readonly team: string
  /** The name or the id of a webhook. */
  readonly webhook: string
  readonly enabled: boolean
  /** The id derives from an `Idempotency-Key`. */
  readonly isRepeatable: boolean
}

/** A retry is compared with the original request, even if its webhook or secrets have changed. */
export const createAutomation = async (
  services: ValidationPorts,
  { id, team, name, description, payload, webhook: named, enabled, isRepeatable, ...proposed }: NewAutomation,
  cause: Cause,
) => {
  const before = isRepeatable ? await automationById(services, id) : null
  const isRepeat = before !== null
  const webhook = isRepeat
    ? await findWebhookAtCreation(services, before, named)
    : await findWebhook(services, team, named)
  const checked = await checkedContent(services, team, proposed, payload, isRepeat ? undefined : webhook)
  const { secret, access_token } = isRepeat ? before.first.content : webhook.content
  const content = { name, description, payload, secret, access_token, ...checked, webhook: webhook.id }
  return automations.create(services, { id, team, content, enabled }, isRepeat, cause)
}

type Changes<A> = { readonly [Field in keyof A]?: A[Field] | undefined }

/** Absent fields keep their values, also inside `event` and `run_filters`; null removes an option. */
export interface AutomationChange extends Changes<
  Pick<AutomationContent, 'name' | 'description' | 'payload' | 'webhook' | 'scope' | 'query'>
> {
  readonly event?: Changes<AutomationCondition> | undefined
  readonly run_filters?: Changes<NonNullable<AutomationContent['run_filters']>> | null | undefined
  readonly enabled?: boolean | undefined
}

export const changeAutomation = async (
  services: ValidationPorts,
  automation: Automation,
  change: AutomationChange,
  cause: Cause,
) => {
  const content = await changedContent(services, automation, change)
  return automations.change(services, automation, content, change.enabled ?? null, cause)
}

/** Applies a change to the content. The payload is only validated again if it or the webhook changes. */
export const changedContent = async (
  services: ValidationPorts,
  { team, content: before }: Automation,
  { name, description, payload, scope, event, run_filters, query, webhook: named }: AutomationChange,
): Promise<AutomationContent> => {
  const webhook =
    named !== undefined || payload !== undefined
      ? await findWebhook(services, team, named ?? before.webhook)
      : undefined
  const filters = run_filters === null ? null : { ...before.run_filters, ...definedFields(run_filters ?? {}) }
  const proposed = {
    scope: scope ?? before.scope,
    event: changedEvent(before.event, event),
    run_filters: filters === null ? null : { user: null, name_pattern: null, ...filters },
    query: query === undefined ? before.query : query,
  }
  const checked = await checkedContent(services, team, proposed, payload ?? before.payload, webhook)
  return {
    ...before,
    ...definedFields({ name, description }),
    webhook: webhook?.id ?? before.webhook,
    ...checked,
  }
}

/** Conditions belong to one event type, so that changing the type resets them. */
const changedEvent = (
  before: AutomationCondition,
  change: Changes<AutomationCondition> = {},
): AutomationCondition => {
  const type = change.type ?? before.type
  const changed = { ...(type === before.type ? before : {}), ...definedFields(change), type }
  const complete = condition.decode(changed)
  return E.isRight(complete) ? complete.right : before
}

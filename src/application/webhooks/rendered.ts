import * as E from 'fp-ts/lib/Either.js'
import {
  automationContent,
  automationStream,
  type AutomationContent,
} from '../../domain/webhooks/automations/events.js'
import type { PastDecision } from '../../domain/webhooks/automations/matching/past-decisions.js'
import { pastVariables } from '../../domain/webhooks/automations/matching/past-variables.js'
import type { DeliveryScheduled } from '../../domain/webhooks/deliveries/events.js'
import type { EventStore } from '../../kernel/ports/event-store.js'
import { storedTemplate } from '../../domain/webhooks/templates/parse.js'
import { redacted, render } from '../../domain/webhooks/templates/render.js'
import type { Template } from '../../domain/webhooks/templates/template.js'
import type { Variables } from '../../domain/webhooks/templates/variables.js'
import type { Services } from '../services.js'

/** A rendered payload with the names of secrets instead of their values; null if it cannot be rendered. */
export interface RenderedPayload {
  readonly body: string | null
  readonly unresolved: readonly string[]
}

const nothing: RenderedPayload = { body: null, unresolved: [] }

const renderedFor = (template: Template | undefined, variables: Variables): RenderedPayload => {
  const rendered = template === undefined ? undefined : render(template, variables, redacted)
  return rendered !== undefined && E.isRight(rendered) ? rendered.right : nothing
}

/** Renders the message about a past event; nothing if the payload is not a template. */
export const messageOf = async (
  { eventStore, ...names }: Pick<Services, 'eventStore' | 'vendor' | 'publicUrl'>,
  content: AutomationContent,
  { trigger, verdict }: Pick<PastDecision, 'trigger' | 'verdict'>,
): Promise<RenderedPayload> => {
  const template = storedTemplate(content)
  if (template === undefined) return nothing
  const figure = verdict.matched ? verdict.figure : null
  const fired = { trigger, eventType: content.event.type, figure }
  return renderedFor(template, await pastVariables(eventStore, template, fired, names))
}

/** Renders the body of a delivery from the variables that were stored when it was scheduled. */
export const bodyOf = async (
  eventStore: Pick<EventStore, 'readStream'>,
  { automation_id, automation_revision, variables }: DeliveryScheduled,
): Promise<RenderedPayload> => {
  const range = { from: BigInt(automation_revision), limit: 1 }
  for await (const { data } of eventStore.readStream(automationStream(automation_id), range)) {
    const content = automationContent.decode(data)
    if (E.isRight(content)) return renderedFor(storedTemplate(content.right), variables)
  }
  return nothing
}

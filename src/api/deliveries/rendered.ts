import * as E from 'fp-ts/lib/Either.js'
import {
  automationContent,
  automationStream,
  type AutomationContent,
} from '../../domain/automation/events.js'
import type { DeliveryScheduled } from '../../domain/delivery/events.js'
import type { EventStore } from '../../domain/ports/event-store.js'
import { parseTemplate } from '../../domain/template/parse.js'
import { redacted, render } from '../../domain/template/render.js'
import type { Template } from '../../domain/template/template.js'
import type { Variables } from '../../domain/template/variables.js'

/** What a message says, with names in place of secrets; null where it cannot be rendered. */
export interface Shown {
  readonly body: string | null
  readonly unresolved: readonly string[]
}

const nothing: Shown = { body: null, unresolved: [] }

/** The template of an automation's payload. Whether its secrets are still there does not matter to what is shown. */
export const templateOf = ({
  payload,
  secret,
}: Pick<AutomationContent, 'payload' | 'secret'>): Template | undefined => {
  const parsed = parseTemplate(payload, { accessToken: true, secret })
  return E.isRight(parsed) ? parsed.right : undefined
}

export const renderedFor = (template: Template | undefined, variables: Variables): Shown => {
  const rendered = template === undefined ? undefined : render(template, variables, redacted)
  return rendered !== undefined && E.isRight(rendered) ? rendered.right : nothing
}

/** The body of a delivery, rendered from what was frozen when it was scheduled. */
export const bodyOf = async (
  eventStore: Pick<EventStore, 'readStream'>,
  { automation_id, automation_revision, variables }: DeliveryScheduled,
): Promise<Shown> => {
  const range = { from: BigInt(automation_revision), limit: 1 }
  for await (const { data } of eventStore.readStream(automationStream(automation_id), range)) {
    const content = automationContent.decode(data)
    if (E.isRight(content)) return renderedFor(templateOf(content.right), variables)
  }
  return nothing
}

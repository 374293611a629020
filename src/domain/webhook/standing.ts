import { id as idCodec } from '../ids.js'
import type { EventStore, Position } from '../ports/event-store.js'
import { webhookStream } from './events.js'

export type Standing = 'enabled' | 'disabled' | 'deleted'

/** How a webhook stands, or stood at a position, as the newest event tells that can; undefined for one that never was. */
export const standingOf = async (
  eventStore: Pick<EventStore, 'readStream'>,
  id: string,
  at?: Position,
): Promise<Standing | undefined> => {
  if (!idCodec.is(id)) return undefined
  for await (const { type, data, position } of eventStore.readStream(webhookStream(id), {
    backwards: true,
  })) {
    if (at !== undefined && position > at) continue
    if (type === 'WebhookDeleted') return 'deleted'
    if (type === 'WebhookEnabled') return 'enabled'
    if (type === 'WebhookDisabled') return 'disabled'
    if (type === 'WebhookCreated') return data['enabled'] === false ? 'disabled' : 'enabled'
  }
  return undefined
}

import { id as idCodec } from '../../kernel/ids.js'
import type { EventStore, Position } from '../../kernel/ports/event-store.js'
import { webhookStream } from './events.js'

export type WebhookStatus = 'enabled' | 'disabled' | 'deleted'

/** The status as of a position, from the newest event that sets it; undefined if the webhook never existed. */
export const webhookStatus = async (
  eventStore: Pick<EventStore, 'readStream'>,
  id: string,
  at?: Position,
): Promise<WebhookStatus | undefined> => {
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

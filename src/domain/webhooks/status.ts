import { id as idCodec } from '../../kernel/ids.js'
import type { EventStore } from '../../kernel/ports/event-store.js'
import { webhookStream } from './webhook.js'

export type WebhookStatus = 'enabled' | 'disabled' | 'deleted'

/** The status, from the newest event that sets it; undefined if the webhook never existed. */
export const webhookStatus = async (
  eventStore: Pick<EventStore, 'readStream'>,
  id: string,
): Promise<WebhookStatus | undefined> => {
  if (!idCodec.is(id)) return undefined
  for await (const { type, data } of eventStore.readStream(webhookStream(id), { backwards: true })) {
    if (type === 'WebhookDeleted') return 'deleted'
    if (type === 'WebhookEnabled') return 'enabled'
    if (type === 'WebhookDisabled') return 'disabled'
    if (type === 'WebhookCreated') return data['enabled'] === false ? 'disabled' : 'enabled'
  }
  return undefined
}

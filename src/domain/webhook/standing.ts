import { id as idCodec } from '../ids.js'
import type { EventStore } from '../ports/event-store.js'
import { webhookStream } from './events.js'

export type Standing = 'enabled' | 'disabled' | 'deleted'

/** How a webhook stands, as the newest of its events tells that can; undefined for one that never was. */
export const standingOf = async (
  eventStore: Pick<EventStore, 'readStream'>,
  id: string,
): Promise<Standing | undefined> => {
  if (!idCodec.is(id)) return undefined
  for await (const { type, data } of eventStore.readStream(webhookStream(id), { backwards: true })) {
    if (type === 'WebhookDeleted') return 'deleted'
    if (type === 'WebhookEnabled') return 'enabled'
    if (type === 'WebhookDisabled') return 'disabled'
    if (type === 'WebhookCreated') return data['enabled'] === false ? 'disabled' : 'enabled'
  }
  return undefined
}

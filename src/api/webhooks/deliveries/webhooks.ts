import type { Services } from '../../../application/services.js'
import type { Position } from '../../../kernel/ports/event-store.js'
import { webhookStatus, type WebhookStatus } from '../../../domain/webhooks/status.js'

const TOGETHER = 16

/** Filters webhooks by their status, now or as of a position. */
export const webhooksWithStatus = async (
  { eventStore }: Pick<Services, 'eventStore'>,
  are: readonly (WebhookStatus | undefined)[],
  ids: Iterable<string>,
  asOf?: Position,
): Promise<ReadonlySet<string>> => {
  const all = [...new Set(ids)]
  const found = new Set<string>()
  for (let at = 0; at < all.length; at += TOGETHER) {
    const some = all.slice(at, at + TOGETHER)
    const statuses = await Promise.all(some.map((id) => webhookStatus(eventStore, id, asOf)))
    for (const [place, id] of some.entries()) if (are.includes(statuses[place])) found.add(id)
  }
  return found
}

/** Deliveries of these webhooks are held. */
export const disabledAmong = (
  services: Pick<Services, 'eventStore'>,
  ids: Iterable<string>,
): Promise<ReadonlySet<string>> => webhooksWithStatus(services, ['disabled'], ids)

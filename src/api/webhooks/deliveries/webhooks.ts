import type { Services } from '../../../application/services.js'
import { automationById, healthOfWebhook, webhookById } from '../../../application/webhooks/current-state.js'
import type { waitOf } from '../../../domain/webhooks/deliveries/waiting.js'
import { webhookStatus, type WebhookStatus } from '../../../domain/webhooks/status.js'

const TOGETHER = 16

/** Filters webhooks by their status. */
export const webhooksWithStatus = async (
  { eventStore }: Pick<Services, 'eventStore'>,
  are: readonly (WebhookStatus | undefined)[],
  ids: Iterable<string>,
): Promise<ReadonlySet<string>> => {
  const all = [...new Set(ids)]
  const found = new Set<string>()
  for (let at = 0; at < all.length; at += TOGETHER) {
    const some = all.slice(at, at + TOGETHER)
    const statuses = await Promise.all(some.map((id) => webhookStatus(eventStore, id)))
    for (const [place, id] of some.entries()) if (are.includes(statuses[place])) found.add(id)
  }
  return found
}

/** Deliveries of these webhooks are held. */
export const disabledAmong = (
  services: Pick<Services, 'eventStore'>,
  ids: Iterable<string>,
): Promise<ReadonlySet<string>> => webhooksWithStatus(services, ['disabled'], ids)

type Streams = Pick<Services, 'eventStore' | 'ids'>

/** The names of webhooks and automations by id, also of deleted ones. */
export const namesOf = async (
  services: Streams,
  {
    webhooks = [],
    automations = [],
  }: { readonly webhooks?: Iterable<string>; readonly automations?: Iterable<string> },
): Promise<ReadonlyMap<string, string>> => {
  const nameOf =
    (find: typeof webhookById | typeof automationById) =>
    async (id: string): Promise<readonly [string, string] | undefined> => {
      const name = (await find(services, id))?.content.name
      return name === undefined ? undefined : [id, name]
    }
  const names = await Promise.all([
    ...[...new Set(webhooks)].map(nameOf(webhookById)),
    ...[...new Set(automations)].map(nameOf(automationById)),
  ])
  return new Map(names.filter((name) => name !== undefined))
}

/** What of webhooks decides how long their messages wait. */
export const waitingWebhooks = async (
  services: Streams,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, Parameters<typeof waitOf>[1]>> => {
  const waiting = new Map<string, Parameters<typeof waitOf>[1]>()
  for (const id of new Set(ids)) {
    const webhook = await webhookById(services, id)
    if (webhook === null || webhook.deleted) continue
    const { enabled, content } = webhook
    waiting.set(id, {
      enabled,
      maxPerMinute: content.max_per_minute,
      health: await healthOfWebhook(services, id),
    })
  }
  return waiting
}

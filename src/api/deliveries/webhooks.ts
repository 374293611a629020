import type { Position } from '../../domain/ports/event-store.js'
import { webhookStatus, type WebhookStatus } from '../../domain/webhook/status.js'
import { webhooksOf, type DeliveryQuestion } from '../../projections/deliveries/queries.js'
import type { Deliveries } from './deliveries.js'

type Ports = Pick<Deliveries['ports'], 'eventStore'>

const TOGETHER = 16

/** Those of some webhooks that stand in one of these ways now, or stood so at a position. */
export const webhooksThat = async (
  { eventStore }: Ports,
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

/** What waits for these is held: webhooks that stand, and are disabled now. */
export const disabledAmong = (ports: Ports, ids: Iterable<string>): Promise<ReadonlySet<string>> =>
  webhooksThat(ports, ['disabled'], ids)

/** The disabled webhooks that anything of what a question is about waits for. */
export const disabledIn = async (
  { ports, reader }: Pick<Deliveries, 'reader'> & { readonly ports: Ports },
  question: DeliveryQuestion,
): Promise<ReadonlySet<string>> =>
  disabledAmong(ports, await webhooksOf(reader)({ ...question, states: ['pending', 'retrying'] }))

import type { Cause } from '../../domain/event.js'
import { namesAfter } from '../../domain/names/decider.js'
import { rosterOf, webhookById } from '../automations/kept.js'
import type { Deliveries } from './deliveries.js'

type Ports = Deliveries['ports']

/** What waits for these is held: webhooks that stand, and are disabled now. */
export const disabledAmong = async (
  ports: Ports,
  ids: Iterable<string>,
  cause: Cause,
): Promise<ReadonlySet<string>> => {
  const disabled = new Set<string>()
  for (const id of new Set(ids)) {
    const webhook = await webhookById(ports, id, cause)
    if (webhook !== null && !webhook.enabled && !webhook.deleted) disabled.add(id)
  }
  return disabled
}

export const disabledOf = async (ports: Ports, team: string, cause: Cause): Promise<ReadonlySet<string>> => {
  const names = namesAfter(await rosterOf(ports, team, cause), 'webhook', undefined)
  return disabledAmong(
    ports,
    [...names].map(({ id }) => id),
    cause,
  )
}

import { automationDecider, type Automation } from '../../domain/webhooks/automations/decider.js'
import { automationStream } from '../../domain/webhooks/automations/events.js'
import { readState } from '../../kernel/execute.js'
import { id as idCodec } from '../../kernel/ids.js'
import {
  namesAfter,
  namesDecider,
  type NameRegistry,
  namesStream,
} from '../../domain/webhooks/names/names.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { webhookDecider, type Webhook, webhookStream } from '../../domain/webhooks/webhook.js'
import {
  HEALTHY,
  webhookHealthEvents,
  webhookHealthStream,
  type WebhookHealth,
} from '../../domain/webhooks/health.js'

type Streams = Pick<Ports, 'eventStore'>

/** The current state of a webhook, also of a deleted one; null if it never existed. */
export const webhookById = async (ports: Streams, id: string): Promise<Webhook | null> =>
  idCodec.is(id) ? readState(ports, webhookDecider, webhookStream(id)) : null

/** The last reported health of a webhook's receiver. */
export const healthOfWebhook = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  id: string,
): Promise<WebhookHealth> => {
  for await (const { data } of eventStore.readStream(webhookHealthStream(id), { backwards: true })) {
    const decoded = webhookHealthEvents.WebhookHealthChanged.decode(data)
    if (decoded._tag === 'Right') return decoded.right
  }
  return HEALTHY
}

/** The current state of an automation, also of a deleted one; null if it never existed. */
export const automationById = async (ports: Streams, id: string): Promise<Automation | null> =>
  idCodec.is(id) ? readState(ports, automationDecider, automationStream(id)) : null

export const rosterOf = async (ports: Streams, team: string): Promise<NameRegistry> =>
  readState(ports, namesDecider, namesStream(team))

interface Named {
  readonly deleted: boolean
  readonly content: { readonly name: string }
}

/** What has these names now: a name may also be kept for a change that is not made yet, or be of something deleted. */
export const namedNow = async <A extends Named>(
  names: Iterable<{ readonly id: string; readonly name: string }>,
  byId: (id: string) => Promise<A | null>,
): Promise<readonly A[]> => {
  const found = Array.from(names, async ({ id, name }) => {
    const one = await byId(id)
    return one !== null && !one.deleted && one.content.name === name ? [one] : []
  })
  return (await Promise.all(found)).flat()
}

/** The automations of a team, by name. */
export const automationsOf = async (ports: Streams, team: string) =>
  namedNow(namesAfter(await rosterOf(ports, team), 'automation'), (id) => automationById(ports, id))

/** The webhooks of a team, by name. */
export const webhooksOf = async (ports: Streams, team: string) =>
  namedNow(namesAfter(await rosterOf(ports, team), 'webhook'), (id) => webhookById(ports, id))

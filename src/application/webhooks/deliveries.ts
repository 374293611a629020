import {
  deliveryHistory,
  type AttemptRange,
  type DeliveryHistory,
} from '../../domain/webhooks/deliveries/history.js'
import { deliveryStream } from '../../domain/webhooks/deliveries/events.js'
import { waitOf } from '../../domain/webhooks/deliveries/waiting.js'
import { webhookStatus, type WebhookStatus } from '../../domain/webhooks/status.js'
import { webhookStream, type WebhookContent } from '../../domain/webhooks/webhook.js'
import { id as idCodec } from '../../kernel/ids.js'
import { inChunks } from '../../kernel/in-chunks.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import {
  webhooksOf,
  type DeliveryPhase,
  type DeliveryQuery,
  type StoredDelivery,
} from '../../projections/webhooks/queries.js'
import type { Services } from '../services.js'
import { automationById, healthOfWebhook, webhookById } from './current-state.js'

const CONCURRENCY = 16

/** The webhooks with one of the statuses. */
export const webhooksWithStatus = async (
  { eventStore }: Pick<Services, 'eventStore'>,
  wanted: readonly (WebhookStatus | undefined)[],
  ids: readonly string[],
): Promise<readonly string[]> => {
  const statuses = await inChunks(ids, CONCURRENCY, (id) => webhookStatus(eventStore, id))
  return ids.filter((_, index) => wanted.includes(statuses[index]))
}

/** The disabled webhooks of waiting deliveries that a query selects: these are held. */
export const disabledWebhooks = async (
  services: Pick<Services, 'eventStore'>,
  reader: ClickHouseReader,
  query: DeliveryQuery,
): Promise<readonly string[]> => {
  const waiting = await webhooksOf(reader)({ ...query, states: ['pending', 'retrying', 'held'] })
  return webhooksWithStatus(services, ['disabled'], waiting)
}

/** The names of webhooks and automations by id, also of deleted ones. */
export const namesOf = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  {
    webhooks = [],
    automations = [],
  }: { readonly webhooks?: Iterable<string>; readonly automations?: Iterable<string> },
): Promise<ReadonlyMap<string, string>> => {
  const find = (byId: typeof webhookById | typeof automationById, ids: Iterable<string>) =>
    Array.from(new Set(ids), (id) => byId(services, id))
  const found = await Promise.all([...find(webhookById, webhooks), ...find(automationById, automations)])
  return new Map(found.flatMap((one) => (one === null ? [] : [[one.id, one.content.name]])))
}

export const isWaiting = (state: DeliveryPhase): boolean =>
  state === 'pending' || state === 'retrying' || state === 'held'

/**
 * The names of deliveries' webhooks and automations, and what they wait for, which is not known of the past. Reads each
 * webhook once.
 */
export const describeDeliveries = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'clock'>,
  deliveries: readonly Pick<StoredDelivery, 'webhook' | 'automation' | 'state' | 'next_at' | 'changed_at'>[],
  isPast = false,
) => {
  const webhooks = deliveries.flatMap(({ webhook }) => webhook ?? [])
  const automations = deliveries.map(({ automation }) => automation)
  const names = await namesOf(services, { webhooks, automations })
  const receivers = new Map<string, Parameters<typeof waitOf>[1]>()
  const waiting = isPast ? [] : deliveries.filter(({ state }) => isWaiting(state))
  for (const id of new Set(waiting.flatMap(({ webhook }) => webhook ?? []))) {
    const webhook = await webhookById(services, id)
    if (webhook === null || webhook.deleted) continue
    const { enabled, content } = webhook
    const health = await healthOfWebhook(services, id)
    receivers.set(id, { enabled, maxPerMinute: content.max_per_minute, health })
  }
  const now = services.clock.now().getTime()
  return deliveries.map(({ webhook, automation, state, next_at, changed_at }) => {
    const receiver = isWaiting(state) && webhook !== null ? receivers.get(webhook) : undefined
    const wait =
      receiver === undefined
        ? { next_at: null, waiting_reason: null }
        : waitOf({ dueAt: next_at, since: changed_at }, receiver, now)
    return {
      ...wait,
      automation_name: names.get(automation) ?? null,
      webhook_name: webhook === null ? null : (names.get(webhook) ?? null),
      state: wait.waiting_reason === 'webhook_disabled' ? ('held' as const) : state,
    }
  })
}

/** A delivery, folded from its events up to a position; null if it does not exist by then. */
export const readDelivery = async (
  { eventStore }: Pick<Services, 'eventStore'>,
  id: string,
  attempts: AttemptRange,
  until?: Position,
): Promise<DeliveryHistory | null> => {
  if (!idCodec.is(id)) return null
  const events = eventStore.readStream(deliveryStream(id))
  return deliveryHistory(until === undefined ? events : upTo(events, until), attempts)
}

async function* upTo(events: AsyncIterable<RecordedEvent>, until: Position): AsyncGenerator<RecordedEvent> {
  for await (const event of events) {
    if (event.position > until) return
    yield event
  }
}

/** The URLs that a webhook had at revisions of its stream, from the oldest one on. */
export const webhookUrls = async (
  { eventStore }: Pick<Services, 'eventStore'>,
  webhook: string,
  oldest: number,
): Promise<(revision: number) => string | null> => {
  const newestFirst: { readonly since: number; readonly url: string }[] = []
  const events = eventStore.readStream(webhookStream(webhook), { backwards: true })
  for await (const { type, data, revision } of events) {
    if (type !== 'WebhookCreated' && type !== 'WebhookChanged') continue
    newestFirst.push({ since: Number(revision), url: (data as WebhookContent).url })
    if (Number(revision) <= oldest) break
  }
  return (revision) => newestFirst.find(({ since }) => since <= revision)?.url ?? null
}

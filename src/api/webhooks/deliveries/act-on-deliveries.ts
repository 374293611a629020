import type { Ports } from '../../../kernel/ports/ports.js'
import type { Services } from '../../../application/services.js'
import { hasRole } from '../../../application/access/rights.js'
import { roleFor } from '../../../application/webhooks/checks.js'
import { automationById } from '../../../application/webhooks/current-state.js'
import { webhookStatus } from '../../../domain/webhooks/status.js'
import { deliveryDecider } from '../../../domain/webhooks/deliveries/decider.js'
import { deliveryStream } from '../../../domain/webhooks/deliveries/events.js'
import type { KnownDelivery } from '../../../domain/webhooks/deliveries/state.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import { oneOf } from '../../../kernel/codec/leaves.js'
import { execute, load } from '../../../kernel/execute.js'
import { id as idCodec } from '../../../kernel/ids.js'
import {
  deliveriesOf,
  type DeliveryPhase,
  type DeliveryQuery,
} from '../../../projections/webhooks/queries.js'
import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import type { Position } from '../../../kernel/ports/event-store.js'
import type { RouteRequest } from '../../server/route.js'
import { eventIdFor, hasEvent } from './repeats.js'

/** `redrive` resends dead deliveries only. */
export const deliveryAction = oneOf('resend', 'cancel', 'redrive')

type NotPossible = 'not_found' | 'forbidden' | 'webhook_deleted' | 'not_dead' | 'in_flight' | 'ended'

export const MAX_DELIVERIES = 10_000
const PAGE = 500

interface Acting extends Pick<RouteRequest, 'headers' | 'principal' | 'cause'> {
  readonly team: string
  readonly action: (typeof deliveryAction)['_A']
  /** Only deliveries in these states are resent. */
  readonly states?: readonly DeliveryPhase[] | undefined
}

export interface ActionCounts {
  done: number
  readonly notPossible: Map<NotPossible, number>
  /** Of the last event. */
  position: Position | undefined
}

const CONCURRENCY = 16

/**
 * Resends or cancels deliveries of a team, and counts those for which that is not possible. A retry with the same
 * `Idempotency-Key` resends none twice.
 */
export const actOnDeliveries = (services: Pick<Services, keyof Ports | 'access'>, acting: Acting) => {
  const { team, action, principal, cause } = acting
  const states = acting.states ?? (action === 'redrive' ? ['dead'] : undefined)
  const counts: ActionCounts = { done: 0, notPossible: new Map(), position: undefined }
  const isManager = cached(async (automation: string) => {
    const found = await automationById(services, automation)
    return found !== null && hasRole(services.access, principal, team, roleFor(found.content.scope))
  })
  const isDeleted = cached(
    async (webhook: string) => (await webhookStatus(services.eventStore, webhook)) === 'deleted',
  )

  const act = async (id: string): Promise<NotPossible | undefined> => {
    const stream = deliveryStream(id)
    const state = idCodec.is(id) ? (await load(services, deliveryDecider, stream)).state : undefined
    if (state === undefined || !isOfTeam(state, team)) return 'not_found'
    if (!(await isManager(state.automation))) return 'forbidden'
    const eventId = eventIdFor(services, acting, id, action)
    if (eventId !== undefined && (await hasEvent(services, stream, eventId))) return undefined
    if (action !== 'cancel' && (await isDeleted(state.webhook))) return 'webhook_deleted'
    if (states?.some((one) => one === state.phase) === false) return 'not_dead'
    const command =
      action === 'cancel'
        ? ({ type: 'CancelDelivery', deliveryId: id, reason: 'by_hand' } as const)
        : ({ type: 'ResendDelivery', deliveryId: id, now: instantOf(services.clock.now()) } as const)
    const ids = eventId === undefined ? services.ids : { next: () => eventId }
    const { refusals, position } = await execute({ ...services, ids })(
      deliveryDecider,
      stream,
      [command],
      cause,
    )
    if (position !== undefined && position > (counts.position ?? 0n)) counts.position = position
    return refusals.size === 0 ? undefined : state.phase === 'in_flight' ? 'in_flight' : 'ended'
  }

  return {
    counts,
    act: async (ids: readonly string[]): Promise<void> => {
      for (let at = 0; at < ids.length; at += CONCURRENCY)
        for (const why of await Promise.all(ids.slice(at, at + CONCURRENCY).map(act)))
          if (why === undefined) counts.done += 1
          else counts.notPossible.set(why, (counts.notPossible.get(why) ?? 0) + 1)
    },
  }
}

/** Acts on what a query selects, page by page. Returns the cursor of the deliveries that remain; null for none. */
export const actOnSelection = async (
  reader: ClickHouseReader,
  query: DeliveryQuery,
  limit: number,
  act: (ids: readonly string[]) => Promise<void>,
): Promise<string | null> => {
  let { before } = query
  for (let left = limit; left > 0;) {
    const size = Math.min(PAGE, left)
    const found = await deliveriesOf(reader)({ ...query, before }, size + 1)
    const page = found.slice(0, size)
    await act(page.map(({ id }) => id))
    if (found.length <= size) return null
    before = page.at(-1)!.position
    left -= page.length
  }
  return String(before)
}

const isOfTeam = (state: { readonly phase: string }, team: string): state is KnownDelivery =>
  'team' in state && state.team === team

const cached = <A>(find: (id: string) => Promise<A>): ((id: string) => Promise<A>) => {
  const known = new Map<string, Promise<A>>()
  return (id) => {
    const found = known.get(id) ?? find(id)
    known.set(id, found)
    return found
  }
}

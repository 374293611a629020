import { webhookStatus } from '../../domain/webhooks/status.js'
import type { DeliveryCommand } from '../../domain/webhooks/deliveries/commands.js'
import { deliveryDecider } from '../../domain/webhooks/deliveries/decider.js'
import { deliveryStream, type DeliveryScheduled } from '../../domain/webhooks/deliveries/events.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { execute, load } from '../../kernel/execute.js'
import { id as idCodec } from '../../kernel/ids.js'
import { inChunks } from '../../kernel/in-chunks.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import {
  countDeliveries,
  deliveriesOf,
  webhooksOf,
  type DeliveryPhase,
  type DeliveryQuery,
} from '../../projections/webhooks/queries.js'
import { hasRole } from '../access/rights.js'
import { Failure } from '../failure.js'
import type { Principal } from '../principal.js'
import type { Services } from '../services.js'
import { roleFor } from './checks.js'
import { automationById, webhookById } from './current-state.js'
import { webhooksWithStatus } from './deliveries.js'

const PAGE = 500
const CONCURRENCY = 16

type DeliveryAction = 'resend' | 'cancel' | 'redrive'
type WritePorts = Pick<Services, 'eventStore' | 'ids' | 'clock'>

/** Writes one event with the id, if one is given. Without a command it only reads. */
const write = (
  services: WritePorts,
  deliveryId: string,
  command: DeliveryCommand | undefined,
  eventId: string | undefined,
  cause: Cause,
) =>
  execute(eventId === undefined ? services : { ...services, ids: { next: () => eventId } })(
    deliveryDecider,
    deliveryStream(deliveryId),
    command === undefined ? [] : [command],
    cause,
  )

const isWritten = async (
  { eventStore }: Pick<Services, 'eventStore'>,
  deliveryId: string,
  eventId: string | undefined,
): Promise<boolean> => {
  if (eventId === undefined) return false
  for await (const { id } of eventStore.readStream(deliveryStream(deliveryId), { backwards: true }))
    if (id === eventId) return true
  return false
}

const commandFor = (
  { clock }: Pick<Services, 'clock'>,
  action: DeliveryAction,
  deliveryId: string,
): DeliveryCommand =>
  action === 'cancel'
    ? { type: 'CancelDelivery', deliveryId, reason: 'by_hand' }
    : { type: 'ResendDelivery', deliveryId, now: instantOf(clock.now()) }

export const cancelDelivery = (services: WritePorts, deliveryId: string, cause: Cause) =>
  write(services, deliveryId, commandFor(services, 'cancel', deliveryId), undefined, cause)

/** `eventId` derives from an `Idempotency-Key`: a retry writes nothing. */
export const resendDelivery = async (
  services: WritePorts,
  { delivery_id, webhook_id }: DeliveryScheduled,
  eventId: string | undefined,
  cause: Cause,
) => {
  const webhook = await webhookById(services, webhook_id)
  if (webhook?.deleted !== false)
    throw new Failure('conflict', 'The webhook of the delivery has been deleted.')
  const isRepeat = await isWritten(services, delivery_id, eventId)
  const command = isRepeat ? undefined : commandFor(services, 'resend', delivery_id)
  return write(services, delivery_id, command, eventId, cause)
}

type NotPossible = 'not_found' | 'forbidden' | 'webhook_deleted' | 'not_dead' | 'in_flight' | 'ended'

interface DeliveriesAction {
  readonly team: string
  /** `redrive` resends dead deliveries only. */
  readonly action: DeliveryAction
  /** Only deliveries in these states are resent. */
  readonly states?: readonly DeliveryPhase[]
  readonly principal: Principal
  /** The same id for a retry of the request; undefined if it cannot be retried. */
  readonly eventIdFor: (deliveryId: string) => string | undefined
}

/** What a query selects, newest first. */
interface Selection {
  readonly reader: ClickHouseReader
  readonly query: DeliveryQuery
  readonly limit: number
}

interface ActionCounts {
  readonly done: number
  readonly notPossible: ReadonlyMap<NotPossible, number>
  /** Cursor of the deliveries that remain; null for none. */
  readonly next: string | null
  /** Of the last event. */
  readonly position: Position | undefined
}

type ActionServices = WritePorts & Pick<Services, 'access'>

/**
 * Resends or cancels deliveries of a team, and counts those for which that is not possible. A retry resends none
 * twice.
 */
export const actOnDeliveries = async (
  services: ActionServices,
  action: DeliveriesAction,
  selected: readonly string[] | Selection,
  cause: Cause,
): Promise<ActionCounts> => {
  const act = acting(services, action, cause)
  let done = 0
  let position: Position | undefined
  const notPossible = new Map<NotPossible, number>()
  const actOn = async (ids: readonly string[]): Promise<void> => {
    for (const written of await inChunks(ids, CONCURRENCY, act))
      if (typeof written === 'string') notPossible.set(written, (notPossible.get(written) ?? 0) + 1)
      else {
        done += 1
        if (written.position !== undefined && written.position > (position ?? 0n)) position = written.position
      }
  }
  const next = 'query' in selected ? await actOnPages(selected, actOn) : (await actOn(selected), null)
  return { done, notPossible, next, position }
}

const acting = (
  services: ActionServices,
  {
    team,
    action,
    states = action === 'redrive' ? ['dead'] : undefined,
    principal,
    eventIdFor,
  }: DeliveriesAction,
  cause: Cause,
) => {
  const isManager = cached(async (automation: string) => {
    const found = await automationById(services, automation)
    return found !== null && hasRole(services.access, principal, team, roleFor(found.content.scope))
  })
  const isDeleted = cached(
    async (webhook: string) => (await webhookStatus(services.eventStore, webhook)) === 'deleted',
  )
  return async (id: string): Promise<NotPossible | { readonly position: Position | undefined }> => {
    const state = idCodec.is(id)
      ? (await load(services, deliveryDecider, deliveryStream(id))).state
      : undefined
    if (state === undefined || !('team' in state) || state.team !== team) return 'not_found'
    if (!(await isManager(state.automation))) return 'forbidden'
    const eventId = eventIdFor(id)
    if (await isWritten(services, id, eventId)) return { position: undefined }
    if (action !== 'cancel' && (await isDeleted(state.webhook))) return 'webhook_deleted'
    if (states?.some((one) => one === state.phase) === false) return 'not_dead'
    const command = commandFor(services, action, id)
    const { refusals, position } = await write(services, id, command, eventId, cause)
    return refusals.size === 0 ? { position } : state.phase === 'in_flight' ? 'in_flight' : 'ended'
  }
}

const actOnPages = async (
  { reader, query, limit }: Selection,
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

const cached = <A>(find: (id: string) => Promise<A>): ((id: string) => Promise<A>) => {
  const known = new Map<string, Promise<A>>()
  return (id) => {
    const found = known.get(id) ?? find(id)
    known.set(id, found)
    return found
  }
}

/** Resends the selected deliveries whose webhook exists, or only counts them. */
export const redrive = async (
  services: ActionServices,
  action: Omit<DeliveriesAction, 'team' | 'action'>,
  { reader, query: all, limit }: Selection,
  isDryRun: boolean,
  cause: Cause,
) => {
  const webhooks = await webhooksOf(reader)(all)
  const deleted = await webhooksWithStatus(services, ['deleted', undefined], webhooks)
  const query = { ...all, withoutWebhooks: deleted }
  const matching = await countDeliveries(reader)(query)
  const left = Math.max(0, matching - limit)
  if (isDryRun) return { matching, resent: 0, left, next: null, position: undefined }
  const resend = { ...action, team: all.team, action: 'resend' } as const
  const { done, next, position } = await actOnDeliveries(services, resend, { reader, query, limit }, cause)
  return { matching, resent: done, left, next, position }
}

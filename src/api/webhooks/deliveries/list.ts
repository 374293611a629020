import type { Services } from '../../../application/services.js'
import type * as t from 'io-ts'
import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import {
  deliveriesOf,
  webhooksOf,
  type DeliveryQuery,
  type StoredDelivery,
  type StoredState,
} from '../../../projections/webhooks/queries.js'
import { pageOf } from '../../server/page.js'
import { memberOfTeam } from '../../server/authorization.js'
import { ofAutomation } from '../one-automation.js'
import type { AnyRoute } from '../../server/route.js'
import { readPresent } from '../../server/route-kinds.js'
import type { PlannedRead } from '../../server/run.js'
import { automationDeliveriesQuery, cursorIn, deliveriesQuery, deliveryJson } from './codecs.js'
import { disabledAmong } from './webhooks.js'

/** Changes of a team's deliveries are acknowledged under this name. */
export const ackScopeOf = (team: string): string => `deliveries of ${team}`

export const listOfAutomation = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading'>,
): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: '/api/automations/:id/deliveries',
    summary: "Lists an automation's deliveries, newest first. Needs membership in its team.",
    query: automationDeliveriesQuery,
    response: pageOf(deliveryJson),
    authorization: ofAutomation(services),
    scope: ({ team }) => ackScopeOf(team),
    handle: ({ automation, team, query, reader }) =>
      listed(services, reader, { ...query, team, automation: automation.id }),
  })

export const listOfTeam = (services: Pick<Services, 'eventStore' | 'access' | 'reading'>): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: '/api/deliveries',
    summary: "Lists a team's deliveries, newest first. Needs membership in the team.",
    query: deliveriesQuery,
    response: pageOf(deliveryJson),
    authorization: memberOfTeam(services.access),
    scope: ({ team }) => ackScopeOf(team),
    handle: ({ query, reader }) => listed(services, reader, query),
  })

type Filters = t.TypeOf<typeof deliveriesQuery>
type OfAutomation = Omit<Filters, 'automation'> & { readonly automation: string | undefined }

const listed = (
  services: Pick<Services, 'eventStore'>,
  reader: ClickHouseReader,
  { state, limit, after, ...filters }: OfAutomation,
): PlannedRead => {
  const before = cursorIn(['query', 'after'], after)
  return async (position) => {
    const asked = { ...filters, before, position }
    const question = { ...asked, ...(await inState(services, reader, asked, state)) }
    const found = await deliveriesOf(reader)(question, limit + 1)
    const data = found.slice(0, limit)
    const next = found.length > limit ? String(data.at(-1)!.position) : null
    const disabled = await disabledAmong(
      services,
      data.flatMap(({ state: stored, webhook }) => (waits(stored) && webhook !== null ? [webhook] : [])),
    )
    return { body: { data: data.map((delivery) => shown(delivery, disabled)), next } }
  }
}

const waits = (state: StoredState): boolean => state === 'pending' || state === 'retrying'

/** `held` is not stored: it means waiting for a webhook that is disabled now. */
const inState = async (
  services: Pick<Services, 'eventStore'>,
  reader: ClickHouseReader,
  question: DeliveryQuery,
  state: Filters['state'],
): Promise<Pick<DeliveryQuery, 'states' | 'webhooks'>> => {
  if (state === undefined) return {}
  if (state !== 'held' && !waits(state)) return { states: [state] }
  const waiting = await webhooksOf(reader)({ ...question, states: ['pending', 'retrying'] })
  const ids = [...(await disabledAmong(services, waiting))]
  return state === 'held'
    ? { states: ['pending', 'retrying'], webhooks: { only: true, ids } }
    : { states: [state], webhooks: { only: false, ids } }
}

const shown = (
  { position: _, ...delivery }: StoredDelivery,
  disabled: ReadonlySet<string>,
): t.TypeOf<typeof deliveryJson> => {
  const isHeld = waits(delivery.state) && delivery.webhook !== null && disabled.has(delivery.webhook)
  const next_at = waits(delivery.state) ? delivery.next_at : null
  return { ...delivery, state: isHeld ? 'held' : delivery.state, next_at }
}

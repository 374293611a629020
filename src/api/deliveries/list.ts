import type * as t from 'io-ts'
import type { Cause } from '../../domain/event.js'
import {
  deliveriesOf,
  type DeliveryQuestion,
  type StoredDelivery,
  type StoredState,
} from '../../projections/deliveries/queries.js'
import { pageOf } from '../access/page.js'
import { requireRole } from '../auth/rights.js'
import { readsPresent } from '../conduct.js'
import { invalid } from '../failure.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { automationDeliveriesQuery, deliveriesQuery, deliveryJson, filtersIn } from './codecs.js'
import { acknowledgedAs, type Deliveries } from './deliveries.js'
import { automationInPath } from './rights.js'
import { disabledAmong, disabledOf } from './webhooks.js'

export const listOfAutomation = (deliveries: Deliveries): AnyRoute =>
  route({
    method: 'get',
    path: '/api/automations/:id/deliveries',
    summary: "An automation's deliveries, those scheduled last first, for its team's members.",
    query: automationDeliveriesQuery,
    ...readsPresent,
    answer: { schema: pageOf(deliveryJson).schema },
    handle: async (asked) => {
      const { team, id } = await automationInPath(deliveries, asked)
      const filters = filtersIn(automationDeliveriesQuery, asked.query)
      return listed(deliveries, asked, { ...filters, team, automation: id })
    },
  })

export const listOfTeam = (deliveries: Deliveries): AnyRoute =>
  route({
    method: 'get',
    path: '/api/deliveries',
    summary: "A team's deliveries, those scheduled last first, for its members.",
    query: deliveriesQuery,
    ...readsPresent,
    answer: { schema: pageOf(deliveryJson).schema },
    handle: async (asked) => {
      const filters = filtersIn(deliveriesQuery, asked.query)
      requireRole(deliveries.access, asked.principal, filters.team, 'member')
      return listed(deliveries, asked, filters)
    },
  })

type Filters = t.TypeOf<typeof deliveriesQuery>
type OfAutomation = Omit<Filters, 'automation'> & { readonly automation: string | undefined }

const listed = async (
  { ports, reading, reader }: Deliveries,
  { headers, cause }: Pick<Asked<unknown>, 'headers' | 'cause'>,
  { state, limit, after, ...filters }: OfAutomation,
) => {
  const { team } = filters
  const before = cursorIn(after)
  const position = await reading.current(acknowledgedAs(team), headers)
  const question = { ...filters, ...(await inState(ports, team, state, cause)), before, position }
  const found = await deliveriesOf(reader)(question, limit + 1)
  const data = found.slice(0, limit)
  const next = found.length > limit ? String(data.at(-1)!.position) : null
  const disabled = await disabledAmong(
    ports,
    data.flatMap(({ state: stored, webhook }) => (waits(stored) && webhook !== null ? [webhook] : [])),
    cause,
  )
  return { body: { data: data.map((delivery) => shown(delivery, disabled)), next }, position }
}

const cursorIn = (after: string | undefined): bigint | undefined => {
  if (after === undefined) return undefined
  if (/^\d{1,19}$/.test(after)) return BigInt(after)
  throw invalid([{ loc: ['query', 'after'], type: 'value_error', msg: 'Input should be the next of a page' }])
}

const waits = (state: StoredState): boolean => state === 'pending' || state === 'retrying'

/** What waits for a disabled webhook is held, and nothing else. */
const inState = async (
  ports: Deliveries['ports'],
  team: string,
  state: Filters['state'],
  cause: Cause,
): Promise<Pick<DeliveryQuestion, 'states' | 'webhooks'>> => {
  if (state === undefined) return {}
  if (state === 'held')
    return {
      states: ['pending', 'retrying'],
      webhooks: { only: true, ids: [...(await disabledOf(ports, team, cause))] },
    }
  const states = [state]
  return waits(state)
    ? { states, webhooks: { only: false, ids: [...(await disabledOf(ports, team, cause))] } }
    : { states }
}

const shown = (
  { position: _, ...delivery }: StoredDelivery,
  disabled: ReadonlySet<string>,
): t.TypeOf<typeof deliveryJson> => {
  const isHeld = waits(delivery.state) && delivery.webhook !== null && disabled.has(delivery.webhook)
  const next_at = waits(delivery.state) ? delivery.next_at : null
  return { ...delivery, state: isHeld ? 'held' : delivery.state, next_at }
}

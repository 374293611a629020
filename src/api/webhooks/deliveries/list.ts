import type { IncomingHttpHeaders } from 'node:http'
import type { Services } from '../../../application/services.js'
import { rosterOf } from '../../../application/webhooks/current-state.js'
import { namesAfter } from '../../../domain/webhooks/names/names.js'
import type { Position } from '../../../kernel/ports/event-store.js'
import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import {
  deliveriesOf,
  deliveryCounts,
  type DeliveryCount,
  type DeliveryQuery,
} from '../../../projections/webhooks/queries.js'
import { memberOfTeam } from '../../server/authorization.js'
import { pageOf } from '../../server/page.js'
import { isAsOf, presentConditionsIn, readConditionsIn } from '../../server/read-conditions.js'
import type { AnyRoute, RouteRequest } from '../../server/route.js'
import { alsoAsOf, readPresent } from '../../server/route-kinds.js'
import { ofAutomation } from '../one-automation.js'
import {
  automationDeliveriesQuery,
  cursorIn,
  deliveriesQuery,
  deliveryCountsJson,
  deliveryCountsQuery,
  deliveryJson,
  type DeliveryFilters,
} from './codecs.js'
import {
  describeDeliveries,
  disabledWebhooks,
  isWaiting,
  namesOf,
} from '../../../application/webhooks/deliveries.js'

/** Changes of a team's deliveries are acknowledged under this name. */
export const ackScopeOf = (team: string): string => `deliveries of ${team}`

/** Waits until the read models have all deliveries of a team that are in the log. */
export const presentPosition = async (
  { eventStore, reading }: Pick<Services, 'eventStore' | 'reading'>,
  team: string,
  { headers }: Pick<RouteRequest, 'headers'>,
): Promise<Position> => {
  const head = await eventStore.head()
  return reading.waitForNow(ackScopeOf(team), presentConditionsIn(headers), head)
}

export const listOfAutomation = (
  services: Pick<Services, 'eventStore' | 'ids' | 'clock' | 'access' | 'reading'>,
): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: '/api/automations/:id/deliveries',
    summary: "Lists an automation's deliveries, newest first. Needs membership in its team.",
    query: automationDeliveriesQuery,
    ...alsoAsOf,
    response: pageOf(deliveryJson),
    authorization: ofAutomation(services),
    scope: ({ team }) => ackScopeOf(team),
    handle: ({ automation, team, query, reader, headers }) =>
      asOf(
        services,
        team,
        headers,
        listed(services, reader, { ...query, team, automation: automation.id }, headers),
      ),
  })

export const listOfTeam = (
  services: Pick<Services, 'eventStore' | 'ids' | 'clock' | 'access' | 'reading'>,
): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: '/api/deliveries',
    summary: "Lists a team's deliveries, newest first. Needs membership in the team.",
    query: deliveriesQuery,
    ...alsoAsOf,
    response: pageOf(deliveryJson),
    authorization: memberOfTeam(services.access),
    scope: ({ team }) => ackScopeOf(team),
    handle: ({ query, reader, headers }) =>
      asOf(services, query.team, headers, listed(services, reader, query, headers)),
  })

export const countsRoute = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading'>,
): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: '/api/deliveries/counts',
    summary:
      "Counts a team's deliveries by state, by webhook and by automation, with the filters of the list. Needs membership " +
      'in the team.',
    query: deliveryCountsQuery,
    ...alsoAsOf,
    response: deliveryCountsJson,
    authorization: memberOfTeam(services.access),
    scope: ({ team }) => ackScopeOf(team),
    handle: ({ query: { team, ...filters }, reader, headers }) =>
      asOf(services, team, headers, async (position) => {
        const all = await deliveryQuery(services, reader, { team, position }, filters, isAsOf(headers))
        const disabled = isAsOf(headers) ? [] : await disabledWebhooks(services, reader, all)
        const counts = await deliveryCounts(reader)({ ...all, disabled })
        const sum = (keyOf: (count: DeliveryCount) => string | null) => {
          const sums = new Map<string, number>()
          for (const count of counts) {
            const key = keyOf(count)
            if (key !== null) sums.set(key, (sums.get(key) ?? 0) + count.deliveries)
          }
          return sums
        }
        const named = async (kind: 'webhooks' | 'automations', sums: ReadonlyMap<string, number>) => {
          const names = await namesOf(services, { [kind]: sums.keys() })
          return [...sums]
            .map(([id, deliveries]) => ({ id, name: names.get(id) ?? null, deliveries }))
            .sort((one, other) => other.deliveries - one.deliveries)
        }
        return {
          body: {
            total: counts.reduce((total, { deliveries }) => total + deliveries, 0),
            by_state: Object.fromEntries(sum(({ state }) => state)),
            by_webhook: await named(
              'webhooks',
              sum(({ webhook }) => webhook),
            ),
            by_automation: await named(
              'automations',
              sum(({ automation }) => automation),
            ),
          },
        }
      }),
  })

/** How deliveries are read as of now, or of the position or time that the headers name. */
const asOf = <Answer>(
  { reading }: Pick<Services, 'reading'>,
  team: string,
  headers: IncomingHttpHeaders,
  read: (position: Position) => Promise<Answer>,
) => ({ waitFor: () => reading.waitForAsOf(ackScopeOf(team), readConditionsIn(headers)), read })

interface Listing extends DeliveryFilters {
  readonly team: string
  readonly limit: number
  readonly after: string | undefined
}

const listed = (
  services: Pick<Services, 'eventStore' | 'ids' | 'clock'>,
  reader: ClickHouseReader,
  { team, limit, after, ...filters }: Listing,
  headers: IncomingHttpHeaders,
) => {
  const before = cursorIn(['query', 'after'], after)
  return async (position: Position) => {
    const query = await deliveryQuery(services, reader, { team, position }, filters, isAsOf(headers))
    const found = await deliveriesOf(reader)({ ...query, before }, limit + 1)
    const stored = found.slice(0, limit)
    const next = found.length > limit ? String(stored.at(-1)!.position) : null
    const described = await describeDeliveries(services, stored, isAsOf(headers))
    const data = stored.map(({ position: _, changed_at: __, ...delivery }, index) => ({
      ...delivery,
      ...described[index]!,
    }))
    return { body: { data, next } }
  }
}

/**
 * The query of filters. Only states that depend on it need to know the disabled webhooks, which are not known of the
 * past.
 */
export const deliveryQuery = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  reader: ClickHouseReader,
  { team, position }: Pick<DeliveryQuery, 'team' | 'position'>,
  { state: states, q, event_type, source_event, ...filters }: DeliveryFilters,
  isPast = false,
): Promise<DeliveryQuery> => {
  const text = q === undefined ? undefined : await textQuery(services, team, q)
  const query = { ...filters, team, position, text, eventType: event_type, sourceEvent: source_event }
  if (isPast || states?.some(isWaiting) !== true) return { ...query, states }
  return { ...query, states, disabled: await disabledWebhooks(services, reader, query) }
}

const textQuery = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  team: string,
  text: string,
): Promise<NonNullable<DeliveryQuery['text']>> => {
  const roster = await rosterOf(services, team)
  const named = (kind: 'webhook' | 'automation') =>
    [...namesAfter(roster, kind)]
      .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
      .map(({ id }) => id)
  return { text, webhooks: named('webhook'), automations: named('automation') }
}

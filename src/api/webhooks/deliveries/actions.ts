import type * as t from 'io-ts'
import type { Services } from '../../../application/services.js'
import { requireRole } from '../../../application/access/rights.js'
import { Failure, invalidField } from '../../../application/failure.js'
import {
  actOnDeliveries,
  cancelDelivery,
  resendDelivery,
} from '../../../application/webhooks/act-on-deliveries.js'
import { automationById } from '../../../application/webhooks/current-state.js'
import type { DeliveryHistory } from '../../../domain/webhooks/deliveries/history.js'
import type { DeliveryPhase, DeliveryQuery } from '../../../projections/webhooks/queries.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../../kernel/codec/containers.js'
import { int64, integerBetween, oneOf, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { id, teamName } from '../../../kernel/ids.js'
import type { Authorization } from '../../server/authorization.js'
import { idFromKey } from '../../server/idempotency.js'
import type { AnyRoute, RouteRequest } from '../../server/route.js'
import { alsoReads, writeDirectory } from '../../server/route-kinds.js'
import { writing, type HasReader, type PlannedWrite } from '../../server/run.js'
import { cursorIn, deliveryFilters, deliveryState } from './codecs.js'
import { ackScopeOf, deliveryQuery, presentPosition } from './list.js'
import { ofDelivery, requireManagementRole } from './rights.js'

type ActionServices = Pick<Services, 'eventStore' | 'ids' | 'clock' | 'sha256' | 'access' | 'reading'>

/** Ids of events that derive from the `Idempotency-Key`, so that a retry by the same user writes the same events. */
export const eventIdsOf =
  (
    services: Pick<Services, 'sha256'>,
    request: Pick<RouteRequest<unknown>, 'headers' | 'principal'>,
    action: string,
  ) =>
  (deliveryId: string): string | undefined => {
    const hex = idFromKey(services, request, deliveryId, action)
    return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }

type Scheduled = NonNullable<DeliveryHistory['scheduled']>

/** The delivery in the path, for principals who may manage its automation. */
const managed = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access'>,
): Authorization<{ readonly scheduled: Scheduled }> => {
  const { authorize } = ofDelivery(services)
  return {
    errors: ['not-found', 'forbidden', 'conflict'],
    authorize: async (request) => {
      const { scheduled } = (await authorize(request)).delivery
      if (scheduled === null) throw new Failure('conflict', 'The delivery was suppressed and cannot be sent.')
      const automation = await automationById(services, scheduled.automation_id)
      if (automation === null) throw new Failure('conflict', 'The automation of the delivery does not exist.')
      requireManagementRole(services, request, automation)
      return { scheduled }
    },
  }
}

const acted = open('DeliveryActedOn', { required: { id, state: deliveryState, attempts: int64 } })

/** Runs an action on one delivery, and answers with its state afterwards. */
const actingOn = (
  { reading }: Pick<Services, 'reading'>,
  { delivery_id, team }: Scheduled,
  act: (...cause: Parameters<PlannedWrite>) => ReturnType<typeof cancelDelivery>,
): PlannedWrite<t.TypeOf<typeof acted>> => {
  const write = writing(act, ({ state }) => {
    const attempts = 'attempts' in state ? state.attempts : 0
    // The command of a delivery that does not exist is refused.
    return { id: delivery_id, state: state.phase as t.TypeOf<typeof deliveryState>, attempts }
  })
  return async (cause) => {
    const response = await write(cause)
    return { ...response, position: reading.ackPosition(ackScopeOf(team), response.position) }
  }
}

export const resendRoute = (services: ActionServices): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/api/deliveries/:id/resend',
    summary:
      'Sends a delivery again now, with the same id and in any state, and closes the circuit breaker of its webhook. ' +
      "Needs the role for its automation's scope.",
    requestHeaders: ['Idempotency-Key'],
    response: acted,
    authorization: managed(services),
    handle: (request) => {
      const { scheduled } = request
      const eventId = eventIdsOf(services, request, 'resend')(scheduled.delivery_id)
      return actingOn(services, scheduled, (cause) => resendDelivery(services, scheduled, eventId, cause))
    },
  })

export const cancelRoute = (services: ActionServices): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/api/deliveries/:id/cancel',
    summary:
      'Cancels a pending, retrying or held delivery. A running attempt or a finished delivery is a conflict. ' +
      "Needs the role for its automation's scope.",
    response: acted,
    authorization: managed(services),
    handle: ({ scheduled }) =>
      actingOn(services, scheduled, (cause) => cancelDelivery(services, scheduled.delivery_id, cause)),
  })

export const MAX_DELIVERIES = 10_000
const MAX_IDS = 1000

const deliveryAction = oneOf('resend', 'cancel', 'redrive')

const actionsBody = closed('DeliveryActions', {
  required: { team: teamName, action: deliveryAction },
  optional: {
    ids: nullable(arrayOf(id, 1)),
    filter: nullable(
      closed('DeliverySelection', {
        optional: { ...deliveryFilters, state: withDefault(arrayOf(deliveryState, 1), undefined) },
      }),
    ),
    limit: withDefault(integerBetween(1, MAX_DELIVERIES), MAX_DELIVERIES),
    after: nullable(string),
  },
})

const actionsDone = open('DeliveryActionsDone', {
  says:
    '`not_possible` counts the others by reason: `not_found`, `forbidden` (the role for the scope of the automation is ' +
    'missing), `webhook_deleted`, `not_dead`, `in_flight` or `ended`. `next` is the `after` of the next request, null if no ' +
    'more deliveries match.',
  required: { done: int64, not_possible: recordOf(int64), next: nullable(string) },
})

/** The states that a filter without states selects. */
const STATES: Readonly<Record<(typeof deliveryAction)['_A'], readonly DeliveryPhase[]>> = {
  resend: ['dead', 'canceled'],
  redrive: ['dead'],
  cancel: ['pending', 'retrying', 'held'],
}

export const actionsRoute = (services: ActionServices): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/api/deliveries/actions',
    summary:
      'Resends, redrives or cancels deliveries of a team, selected by `ids` or by the filters of the list, ' +
      `newest first, at most ${MAX_DELIVERIES} per request. A retry with the same Idempotency-Key resends none twice. Needs ` +
      'membership in the team, and for each delivery the role for the scope of its automation.',
    body: actionsBody,
    requestHeaders: [...alsoReads.requestHeaders, 'Idempotency-Key'],
    errors: alsoReads.errors,
    response: actionsDone,
    authorization: {
      errors: ['not-found', 'forbidden'],
      authorize: ({ body: { team }, principal }: RouteRequest<t.TypeOf<typeof actionsBody>>) => {
        requireRole(services.access, principal, team, 'member')
        return {}
      },
    },
    handle: (request) => {
      const { team, action, ids, filter, limit } = request.body
      if (ids === null && filter === null)
        throw invalidField(['filter'], 'missing', 'Give either ids or filter')
      if (ids !== null && filter !== null)
        throw invalidField(['filter'], 'value_error', 'Give either ids or filter, not both')
      if (ids !== null && ids.length > MAX_IDS)
        throw invalidField(['ids'], 'too_long', `List should have at most ${MAX_IDS} items`)
      const { principal, reader } = request
      const acting = { team, action, principal, eventIdFor: eventIdsOf(services, request, action) }
      return async (cause) => {
        const selected =
          ids === null ? { reader, query: await selectionOf(services, request), limit } : [...new Set(ids)]
        const { done, notPossible, next, position } = await actOnDeliveries(services, acting, selected, cause)
        return {
          body: { done, not_possible: Object.fromEntries(notPossible), next },
          position: position && services.reading.ackPosition(ackScopeOf(team), position),
        }
      }
    },
  })

const selectionOf = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'reading'>,
  request: RouteRequest<t.TypeOf<typeof actionsBody>> & HasReader,
): Promise<DeliveryQuery> => {
  const { team, action, filter, after } = request.body
  const before = cursorIn(['body', 'after'], after)
  const position = await presentPosition(services, team, request)
  const filters = { ...filter!, state: filter!.state ?? STATES[action] }
  return { ...(await deliveryQuery(services, request.reader, { team, position }, filters)), before }
}

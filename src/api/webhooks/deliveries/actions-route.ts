import type * as t from 'io-ts'
import type { Ports } from '../../../kernel/ports/ports.js'
import { requireRole } from '../../../application/access/rights.js'
import { invalidField } from '../../../application/failure.js'
import type { Services } from '../../../application/services.js'
import type { DeliveryPhase, DeliveryQuery } from '../../../projections/webhooks/queries.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../../kernel/codec/containers.js'
import { int64, integerBetween, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { id, teamName } from '../../../kernel/ids.js'
import { presentConditionsIn } from '../../server/read-conditions.js'
import type { AnyRoute, RouteRequest } from '../../server/route.js'
import { alsoReads, writeDirectory } from '../../server/route-kinds.js'
import type { HasReader } from '../../server/run.js'
import { actOnDeliveries, actOnSelection, deliveryAction, MAX_DELIVERIES } from './act-on-deliveries.js'
import { cursorIn, deliveryFilters, deliveryState } from './codecs.js'
import { ackScopeOf, deliveryQuery } from './list.js'

const MAX_IDS = 1000

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

export const actionsRoute = (services: Pick<Services, keyof Ports | 'access' | 'reading'>): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/api/deliveries/actions',
    summary:
      'Resends, redrives or cancels deliveries of a team: those with the `ids`, or those that the filters of the list select, ' +
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
      const { ids, filter } = request.body
      if (ids === null && filter === null)
        throw invalidField(['filter'], 'missing', 'Give either ids or filter')
      if (ids !== null && filter !== null)
        throw invalidField(['filter'], 'value_error', 'Give either ids or filter, not both')
      if (ids !== null && ids.length > MAX_IDS)
        throw invalidField(['ids'], 'too_long', `List should have at most ${MAX_IDS} items`)
      const { team, action } = request.body
      return async (cause) => {
        const { act, counts } = actOnDeliveries(services, { ...request, team, action, cause })
        let next: string | null = null
        if (ids !== null) await act([...new Set(ids)])
        else
          next = await actOnSelection(
            request.reader,
            await selectionOf(services, request),
            request.body.limit,
            act,
          )
        const { reading } = services
        return {
          body: { done: counts.done, not_possible: Object.fromEntries(counts.notPossible), next },
          position: counts.position && reading.ackPosition(ackScopeOf(team), counts.position),
        }
      }
    },
  })

type ActionsRequest = RouteRequest<t.TypeOf<typeof actionsBody>> & HasReader

const selectionOf = async (
  services: Pick<Services, keyof Ports | 'reading'>,
  { body: { team, action, filter, after }, headers, reader }: ActionsRequest,
): Promise<DeliveryQuery> => {
  const before = cursorIn(['body', 'after'], after)
  const head = await services.eventStore.head()
  const position = await services.reading.waitForNow(ackScopeOf(team), presentConditionsIn(headers), head)
  const filters = { ...filter!, state: filter!.state ?? STATES[action] }
  return { ...(await deliveryQuery(services, reader, { team, position }, filters)), before }
}

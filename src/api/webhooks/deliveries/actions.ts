import type * as t from 'io-ts'
import type { Ports } from '../../../kernel/ports/ports.js'
import type { Services } from '../../../application/services.js'
import { id } from '../../../kernel/ids.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import { int64 } from '../../../kernel/codec/leaves.js'
import type { Cause } from '../../../kernel/event.js'
import { open } from '../../../kernel/codec/struct.js'
import type { DeliveryHistory } from '../../../domain/webhooks/deliveries/history.js'
import type { DeliveryCommand } from '../../../domain/webhooks/deliveries/commands.js'
import { deliveryDecider } from '../../../domain/webhooks/deliveries/decider.js'
import { deliveryStream } from '../../../domain/webhooks/deliveries/events.js'
import { execute } from '../../../kernel/execute.js'
import { automationById, webhookById } from '../../../application/webhooks/current-state.js'
import type { Authorization } from '../../server/authorization.js'
import { Failure } from '../../../application/failure.js'
import type { AnyRoute } from '../../server/route.js'
import { writeDirectory } from '../../server/route-kinds.js'
import { writing } from '../../server/run.js'
import { deliveryState } from './codecs.js'
import { ackScopeOf } from './list.js'
import { eventIdFor, hasEvent } from './repeats.js'
import { ofDelivery, requireManagementRole } from './rights.js'

const acted = open('DeliveryActedOn', { required: { id, state: deliveryState, attempts: int64 } })

/** The delivery in the path, for principals who may manage its automation. */
const managed = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access'>,
): Authorization<{ readonly scheduled: NonNullable<DeliveryHistory['scheduled']> }> => {
  const { authorize } = ofDelivery(services)
  return {
    errors: ['not-found', 'forbidden', 'conflict'],
    authorize: async (request) => {
      const {
        account: { scheduled },
      } = await authorize(request)
      if (scheduled === null) throw new Failure('conflict', 'The delivery was suppressed and cannot be sent.')
      const automation = await automationById(services, scheduled.automation_id)
      if (automation === null) throw new Failure('conflict', 'The automation of the delivery does not exist.')
      requireManagementRole(services, request, automation)
      return { scheduled }
    },
  }
}

export const resendRoute = (services: Pick<Services, keyof Ports | 'access' | 'reading'>): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/api/deliveries/:id/resend',
    summary:
      'Sends a delivery again now, with the same id and in any state, and closes the circuit breaker of its webhook. ' +
      "Needs the role for its automation's scope.",
    requestHeaders: ['Idempotency-Key'],
    response: acted,
    authorization: managed(services),
    handle: async (request) => {
      const { scheduled } = request
      const webhook = await webhookById(services, scheduled.webhook_id)
      if (webhook?.deleted !== false)
        throw new Failure('conflict', 'The webhook of the delivery has been deleted.')
      const { delivery_id: deliveryId } = scheduled
      const now = instantOf(services.clock.now())
      const eventId = eventIdFor(services, request, deliveryId, 'resend')
      const isRepeat =
        eventId !== undefined && (await hasEvent(services, deliveryStream(deliveryId), eventId))
      return act(
        services,
        scheduled,
        isRepeat ? undefined : { type: 'ResendDelivery', deliveryId, now },
        eventId,
      )
    },
  })

export const cancelRoute = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading'>,
): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/api/deliveries/:id/cancel',
    summary:
      'Cancels a pending, retrying or held delivery. A running attempt or a finished delivery is a conflict. ' +
      "Needs the role for its automation's scope.",
    response: acted,
    authorization: managed(services),
    handle: ({ scheduled }) =>
      act(services, scheduled, {
        type: 'CancelDelivery',
        deliveryId: scheduled.delivery_id,
        reason: 'by_hand',
      }),
  })

const act = (
  services: Pick<Services, 'eventStore' | 'ids' | 'reading'>,
  { delivery_id, team }: { readonly delivery_id: string; readonly team: string },
  command: DeliveryCommand | undefined,
  eventId?: string,
) => {
  const ids = eventId === undefined ? services.ids : { next: () => eventId }
  const write = writing(
    (cause) =>
      execute({ ...services, ids })(
        deliveryDecider,
        deliveryStream(delivery_id),
        command === undefined ? [] : [command],
        cause,
      ),
    ({ state }) => {
      const attempts = 'attempts' in state ? state.attempts : 0
      // The command of a delivery that does not exist is refused.
      return { id: delivery_id, state: state.phase as t.TypeOf<typeof deliveryState>, attempts }
    },
  )
  return async (cause: Cause) => {
    const response = await write(cause)
    return { ...response, position: services.reading.ackPosition(ackScopeOf(team), response.position) }
  }
}

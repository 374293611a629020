import { id } from '../../domain/ids.js'
import { instantOf } from '../../domain/codec/instant.js'
import { int64 } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import type { DeliveryCommand } from '../../domain/delivery/commands.js'
import { deliveryDecider } from '../../domain/delivery/decider.js'
import { deliveryStream } from '../../domain/delivery/events.js'
import { execute } from '../../runtime/execute.js'
import { automationById, webhookById } from '../automations/kept.js'
import { refuseIf } from '../auth/rights.js'
import { writesDirectory } from '../conduct.js'
import { Failure } from '../failure.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { deliveryState } from './codecs.js'
import { acknowledgedAs, type Deliveries } from './deliveries.js'
import { eventIdFor, wroteBefore } from './repeats.js'
import { deliveryInPath, requireManaging } from './rights.js'

const acted = open('DeliveryActedOn', { required: { id, state: deliveryState, attempts: int64 } })

const described = {
  takes: [],
  fails: [...writesDirectory.fails, 'not-found', 'forbidden', 'conflict', 'invalid'],
  answer: { schema: acted.schema },
} as const

export const resendRoute = (deliveries: Deliveries): AnyRoute =>
  route({
    method: 'post',
    path: '/api/deliveries/:id/resend',
    summary:
      'Sends a delivery again, under its own id and now, whatever became of it; one that is pending stays as it is. ' +
      "Needs the role that its automation's scope needs.",
    ...described,
    takes: ['Idempotency-Key'],
    handle: async (asked) => {
      const { scheduled } = await managedDelivery(deliveries, asked)
      const { ports } = deliveries
      const webhook = await webhookById(ports, scheduled.webhook_id, asked.cause)
      if (webhook?.deleted !== false)
        throw new Failure('conflict', 'The webhook of the delivery was deleted.')
      const now = instantOf(ports.clock.now())
      const eventId = eventIdFor(ports, asked, `${scheduled.delivery_id}\nresend`)
      if (eventId !== undefined && (await wroteBefore(ports, deliveryStream(scheduled.delivery_id), eventId)))
        return act(deliveries, asked, scheduled, undefined)
      const command = { type: 'ResendDelivery', deliveryId: scheduled.delivery_id, now } as const
      return act(deliveries, asked, scheduled, command, eventId)
    },
  })

export const cancelRoute = (deliveries: Deliveries): AnyRoute =>
  route({
    method: 'post',
    path: '/api/deliveries/:id/cancel',
    summary:
      'Cancels a delivery that waits, held ones too; one whose attempt is under way, or that is over, is a conflict. ' +
      "Needs the role that its automation's scope needs.",
    ...described,
    handle: async (asked) => {
      const { scheduled } = await managedDelivery(deliveries, asked)
      const deliveryId = scheduled.delivery_id
      return act(deliveries, asked, scheduled, { type: 'CancelDelivery', deliveryId, reason: 'by_hand' })
    },
  })

const managedDelivery = async (deliveries: Deliveries, asked: Asked<unknown>) => {
  const { scheduled } = await deliveryInPath(deliveries, asked)
  if (scheduled === null)
    throw new Failure('conflict', 'The delivery was suppressed: it was never to be sent.')
  const automation = await automationById(deliveries.ports, scheduled.automation_id, asked.cause)
  if (automation === null) throw new Failure('conflict', 'The automation of the delivery is not there.')
  requireManaging(deliveries, asked, automation)
  return { scheduled }
}

const act = async (
  { ports, reading }: Deliveries,
  { cause }: Pick<Asked<unknown>, 'cause'>,
  { delivery_id, team }: { readonly delivery_id: string; readonly team: string },
  command: DeliveryCommand | undefined,
  eventId?: string,
) => {
  const ids = eventId === undefined ? ports.ids : { next: () => eventId }
  const { state, refusals, position } = await execute({ ...ports, ids })(
    deliveryDecider,
    deliveryStream(delivery_id),
    command === undefined ? [] : [command],
    cause,
  )
  refuseIf(refusals.get(0))
  const attempts = 'attempts' in state ? state.attempts : 0
  const shown = { id: delivery_id, state: state.phase, attempts }
  return { body: shown, position: reading.acknowledged(acknowledgedAs(team), position) }
}

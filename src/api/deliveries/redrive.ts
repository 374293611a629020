import type * as t from 'io-ts'
import { arrayOf, nullable, withDefault } from '../../domain/codec/containers.js'
import { instant, instantOf } from '../../domain/codec/instant.js'
import { boolean, int64, integerBetween, oneOf } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import { deliveryDecider } from '../../domain/delivery/decider.js'
import { deadReason, deliveryStream } from '../../domain/delivery/events.js'
import { execute, load } from '../../domain/execute.js'
import type { Position } from '../../domain/ports/event-store.js'
import { countDeliveries, deliveriesOf, type DeliveryQuestion } from '../../projections/deliveries/queries.js'
import { webhookById } from '../automations/kept.js'
import { readsPresent, writesDirectory } from '../conduct.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { acknowledgedAs, type Deliveries } from './deliveries.js'
import { eventIdFor, wroteBefore } from './repeats.js'
import { automationInPath, requireManaging } from './rights.js'

const MOST_AT_ONCE = 10_000
const PAGE = 500
const TOGETHER = 16

const redriveBody = closed('Redrive', {
  required: { dry_run: boolean },
  optional: {
    states: withDefault(arrayOf(oneOf('dead', 'canceled'), 1), ['dead'] as const),
    reason: nullable(deadReason),
    from: nullable(instant),
    to: nullable(instant),
    limit: withDefault(integerBetween(1, MOST_AT_ONCE), MOST_AT_ONCE),
  },
})

const redriven = open('Redriven', {
  says:
    '`matching` were found, `resent` of them are to be sent again, `left` are for a next request. The others were no ' +
    'longer what was asked for, or their webhook is gone.',
  required: { dry_run: boolean, matching: int64, resent: int64, left: int64 },
})

export const redriveRoute = (deliveries: Deliveries): AnyRoute =>
  route({
    method: 'post',
    path: '/api/automations/:id/redrive',
    summary:
      'Sends dead deliveries of an automation again, the newest first and as fast as their endpoints bear, or says how ' +
      'many that would be. Needs the role that its scope needs.',
    body: redriveBody,
    takes: [...readsPresent.takes, 'Idempotency-Key'],
    fails: [...readsPresent.fails, ...writesDirectory.fails, 'forbidden'],
    answer: { schema: redriven.schema },
    handle: async (asked) => {
      const { ports, reading, reader } = deliveries
      const { body, headers } = asked
      const automation = await automationInPath(deliveries, asked)
      requireManaging(deliveries, asked, automation)
      const { dry_run, limit, reason, from, to, states } = body
      const { team, id } = automation
      const position = await reading.current(acknowledgedAs(team), headers, await ports.eventStore.head())
      const question: DeliveryQuestion = {
        ...{ team, automation: id, position, states },
        ...{ reason: reason ?? undefined, from: from ?? undefined, to: to ?? undefined },
      }
      const matching = await countDeliveries(reader)(question)
      const left = Math.max(0, matching - limit)
      if (dry_run) return { body: { dry_run, matching, resent: 0, left }, position }
      const sent = await resendAll(deliveries, asked, question)
      return {
        body: { dry_run, matching, resent: sent.resent, left },
        position: reading.acknowledged(acknowledgedAs(team), sent.position ?? position),
      }
    },
  })

type Redriving = Asked<t.TypeOf<typeof redriveBody>>

const resendAll = async (deliveries: Deliveries, asked: Redriving, question: DeliveryQuestion) => {
  const standing = new Map<string, boolean>()
  let left = asked.body.limit
  let before: Position | undefined
  let resent = 0
  let position: Position | undefined
  while (left > 0) {
    const asking = Math.min(PAGE, left)
    const page = await deliveriesOf(deliveries.reader)({ ...question, before }, asking)
    for (const { webhook } of page)
      if (webhook !== null && !standing.has(webhook))
        standing.set(webhook, (await webhookById(deliveries.ports, webhook, asked.cause))?.deleted === false)
    const ids = page.flatMap(({ id, webhook }) => (standing.get(webhook ?? '') === true ? [id] : []))
    for (let at = 0; at < ids.length; at += TOGETHER) {
      const done = await Promise.all(ids.slice(at, at + TOGETHER).map((id) => resend(deliveries, asked, id)))
      for (const one of done) {
        if (one === undefined) continue
        resent += 1
        if (position === undefined || one > position) position = one
      }
    }
    if (page.length < asking) break
    before = page.at(-1)!.position
    left -= page.length
  }
  return { resent, position }
}

/** Where it was resent; undefined where it is not what was asked for any more. */
const resend = async (
  { ports }: Deliveries,
  asked: Redriving,
  deliveryId: string,
): Promise<Position | undefined> => {
  const stream = deliveryStream(deliveryId)
  const eventId = eventIdFor(ports, asked, `${deliveryId}\nredrive`)
  const { state } = await load(ports, deliveryDecider, stream)
  if (!asked.body.states.some((wanted) => wanted === state.phase)) return undefined
  if (eventId !== undefined && (await wroteBefore(ports, stream, eventId))) return undefined
  const command = { type: 'ResendDelivery', deliveryId, now: instantOf(ports.clock.now()) } as const
  const ids = eventId === undefined ? ports.ids : { next: () => eventId }
  const { position } = await execute({ ...ports, ids })(deliveryDecider, stream, [command], asked.cause)
  return position
}

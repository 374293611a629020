import type * as t from 'io-ts'
import type { Ports } from '../../../kernel/ports/ports.js'
import { NO_CONDITIONS } from '../../../application/reading/reading.js'
import { presentConditionsIn } from '../../server/read-conditions.js'
import type { Services } from '../../../application/services.js'
import { nullable, withDefault } from '../../../kernel/codec/containers.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import { boolean, int64, integerBetween, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { deliveryDecider } from '../../../domain/webhooks/deliveries/decider.js'
import { deliveryStream } from '../../../domain/webhooks/deliveries/events.js'
import { execute, load } from '../../../kernel/execute.js'
import type { Position } from '../../../kernel/ports/event-store.js'
import {
  redrivenStates,
  redriveFilters,
  redriveStream,
  type RedriveAsked,
} from '../../../domain/webhooks/redrives/events.js'
import {
  countDeliveries,
  deliveriesOf,
  webhooksOf,
  type DeliveryQuery,
  type StoredDelivery,
} from '../../../projections/webhooks/queries.js'
import { ofAutomation } from '../one-automation.js'
import type { AnyRoute, RouteRequest } from '../../server/route.js'
import { alsoReads, writeDirectory } from '../../server/route-kinds.js'
import type { HasReader } from '../../server/run.js'
import { cursorIn } from './codecs.js'
import { ackScopeOf } from './list.js'
import { eventIdFor, hasEvent } from './repeats.js'
import { requireManagementRole } from './rights.js'
import { webhooksWithStatus } from './webhooks.js'
import type { Automation } from '../../../domain/webhooks/automations/decider.js'
import { redriveDecider } from '../../../domain/webhooks/redrives/decider.js'
import { repeatableId } from '../../server/idempotency.js'
import { throwIfRefused } from '../../../application/access/rights.js'

const MOST_AT_ONCE = 10_000
const PAGE = 500
const TOGETHER = 16
const GONE = ['deleted', undefined] as const

const redriveBody = closed('Redrive', {
  required: { dry_run: boolean },
  optional: {
    states: withDefault(redrivenStates, ['dead'] as const),
    limit: withDefault(integerBetween(1, MOST_AT_ONCE), MOST_AT_ONCE),
    ...redriveFilters,
  },
})

const redriven = open('Redriven', {
  says:
    '`matching` deliveries with an existing webhook were found, `resent` of them are resent, and `left` remain for the next ' +
    'request, with `next` as its `after`. Deliveries that changed in the meantime are in neither. A retry completes the first ' +
    'request and counts what it has resent.',
  required: { dry_run: boolean, matching: int64, resent: int64, left: int64, next: nullable(string) },
})

export const redriveRoute = (services: Pick<Services, keyof Ports | 'access' | 'reading'>): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/api/automations/:id/redrive',
    summary:
      'Resends dead deliveries of an automation, newest first and within the rate limits of their endpoints, or only counts ' +
      `them. At most ${MOST_AT_ONCE} per request. A retry with the same Idempotency-Key resends no ` +
      'others. Needs the role for its scope.',
    body: redriveBody,
    requestHeaders: [...alsoReads.requestHeaders, 'Idempotency-Key'],
    errors: [...alsoReads.errors, 'forbidden', 'conflict'],
    response: redriven,
    authorization: ofAutomation(services),
    handle: async (asked) => {
      const { reading } = services
      const { body, headers, automation, team, reader } = asked
      requireManagementRole(services, asked, automation)
      const { dry_run, limit, reason, from, to, states } = body
      const before = cursorIn(['body', 'after'], body.after)
      const { id } = automation
      const name = ackScopeOf(team)
      const now = await reading.waitForNow(
        name,
        presentConditionsIn(headers),
        await services.eventStore.head(),
      )
      const askedAt = dry_run ? undefined : await redriveRequestedAt(services, asked, automation, body)
      // A retry must find the same deliveries, so it waits for its position even with `Tallytree-Stale: allow`.
      const reached = askedAt === undefined ? now : await reading.waitForNow(name, NO_CONDITIONS, askedAt)
      const position = askedAt ?? now
      const asking: DeliveryQuery = {
        team,
        automation: id,
        position,
        states,
        before,
        reason: reason ?? undefined,
        from: from ?? undefined,
        to: to ?? undefined,
      }
      const gone = await webhooksWithStatus(services, GONE, await webhooksOf(reader)(asking), askedAt)
      const question = { ...asking, withoutWebhooks: [...gone] }
      const matching = await countDeliveries(reader)(question)
      const left = Math.max(0, matching - limit)
      return async () => {
        if (dry_run) return { body: { dry_run, matching, resent: 0, left, next: null }, position }
        const sent = await resendAll(services, asked, question)
        const next = left === 0 || sent.last === undefined ? null : String(sent.last)
        return {
          body: { dry_run, matching, resent: sent.resent, left, next },
          position: reading.ackPosition(name, sent.position ?? reached),
        }
      }
    },
  })

type Redriving = HasReader &
  Pick<RouteRequest<t.TypeOf<typeof redriveBody>>, 'body' | 'headers' | 'principal' | 'cause'>

const resendAll = async (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'sha256'>,
  asked: Redriving,
  question: DeliveryQuery,
) => {
  let left = asked.body.limit
  let last: Position | undefined
  let resent = 0
  let position: Position | undefined
  while (left > 0) {
    const asking = Math.min(PAGE, left)
    const page = await deliveriesOf(asked.reader)({ ...question, before: last ?? question.before }, asking)
    const webhooks = page.flatMap(({ webhook }) => (webhook === null ? [] : [webhook]))
    const gone = await webhooksWithStatus(services, GONE, webhooks)
    for (let at = 0; at < page.length; at += TOGETHER) {
      const some = page.slice(at, at + TOGETHER)
      for (const done of await Promise.all(some.map((one) => resend(services, asked, one, gone)))) {
        if (done === undefined) continue
        resent += 1
        if (position === undefined || (done.at ?? 0n) > position) position = done.at
      }
    }
    last = page.at(-1)?.position ?? last
    if (page.length < asking) break
    left -= page.length
  }
  return { resent, position, last }
}

/**
 * Resends one delivery. Returns undefined if its state no longer matches the request, and no position if an earlier
 * attempt of this request has already resent it.
 */
const resend = async (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'sha256'>,
  asked: Redriving,
  { id: deliveryId, webhook }: Pick<StoredDelivery, 'id' | 'webhook'>,
  gone: ReadonlySet<string>,
): Promise<{ readonly at: Position | undefined } | undefined> => {
  const stream = deliveryStream(deliveryId)
  const eventId = eventIdFor(services, asked, `${deliveryId}\nredrive`)
  if (eventId !== undefined && (await hasEvent(services, stream, eventId))) return { at: undefined }
  if (webhook !== null && gone.has(webhook)) return undefined
  const { state } = await load(services, deliveryDecider, stream)
  if (!asked.body.states.some((wanted) => wanted === state.phase)) return undefined
  const command = { type: 'ResendDelivery', deliveryId, now: instantOf(services.clock.now()) } as const
  const ids = eventId === undefined ? services.ids : { next: () => eventId }
  const { position } = await execute({ ...services, ids })(deliveryDecider, stream, [command], asked.cause)
  return position === undefined ? undefined : { at: position }
}

type RedriveSelection = Omit<RedriveAsked, 'id' | 'team' | 'automation_id'>

/**
 * The position at which a redrive was first requested with this `Idempotency-Key`, by this request or by the one that
 * it retries. Both then select deliveries as of that position. Undefined without a key.
 *
 * @throws Failure, a conflict if the key was used for another redrive
 */
const redriveRequestedAt = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'sha256'>,
  { headers, principal, cause }: Pick<RouteRequest<unknown>, 'headers' | 'principal' | 'cause'>,
  { id: automation_id, team }: Pick<Automation, 'id' | 'team'>,
  { states, limit, reason, from, to, after }: RedriveSelection,
): Promise<Position | undefined> => {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  const id = repeatableId(services, `${principal.userId}\n${automation_id}\nredrive`, key)
  const redrive = { id, team, automation_id, states, limit, reason, from, to, after }
  const command = { type: 'AskRedrive', redrive } as const
  const { refusals } = await execute(services)(redriveDecider, redriveStream(id), [command], cause)
  throwIfRefused(refusals.get(0))
  for await (const { position } of services.eventStore.readStream(redriveStream(id), { limit: 1 }))
    return position
  return undefined
}

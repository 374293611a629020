import type { Ports } from '../../../kernel/ports/ports.js'
import type { Services } from '../../../application/services.js'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { boolean, int64, integerBetween, oneOf, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { deadReason } from '../../../domain/webhooks/deliveries/events.js'
import type { DeliveryQuery } from '../../../projections/webhooks/queries.js'
import { ofAutomation } from '../one-automation.js'
import type { AnyRoute } from '../../server/route.js'
import { alsoReads, writeDirectory } from '../../server/route-kinds.js'
import { redrive } from '../../../application/webhooks/act-on-deliveries.js'
import { eventIdsOf, MAX_DELIVERIES } from './actions.js'
import { cursorIn } from './codecs.js'
import { ackScopeOf, presentPosition } from './list.js'
import { requireManagementRole } from './rights.js'

const redriveBody = closed('Redrive', {
  required: { dry_run: boolean },
  optional: {
    states: withDefault(arrayOf(oneOf('dead', 'canceled'), 1), ['dead'] as const),
    limit: withDefault(integerBetween(1, MAX_DELIVERIES), MAX_DELIVERIES),
    reason: nullable(deadReason),
    from: nullable(instant),
    to: nullable(instant),
    after: nullable(string),
  },
})

const redriven = open('Redriven', {
  says:
    '`matching` deliveries with an existing webhook were found, `resent` of them are resent, and `left` remain for the next ' +
    'request, with `next` as its `after`. Deliveries that changed in the meantime are in neither.',
  required: { dry_run: boolean, matching: int64, resent: int64, left: int64, next: nullable(string) },
})

export const redriveRoute = (services: Pick<Services, keyof Ports | 'access' | 'reading'>): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/api/automations/:id/redrive',
    summary:
      'Resends dead deliveries of an automation, newest first and within the rate limits of their endpoints, or only counts ' +
      `them. At most ${MAX_DELIVERIES} per request. A retry with the same Idempotency-Key resends none twice. Needs the role ` +
      'for its scope.',
    body: redriveBody,
    requestHeaders: [...alsoReads.requestHeaders, 'Idempotency-Key'],
    errors: [...alsoReads.errors, 'forbidden'],
    response: redriven,
    authorization: ofAutomation(services),
    handle: (request) => {
      const { body, automation, team, reader, principal } = request
      requireManagementRole(services, request, automation)
      const { dry_run, limit, reason, from, to, states } = body
      const before = cursorIn(['body', 'after'], body.after)
      return async (cause) => {
        const present = await presentPosition(services, team, request)
        const query: DeliveryQuery = {
          team,
          automation: automation.id,
          position: present,
          states,
          before,
          reason: reason ?? undefined,
          from: from ?? undefined,
          to: to ?? undefined,
        }
        const action = { states, principal, eventIdFor: eventIdsOf(services, request, 'resend') }
        const selected = { reader, query, limit }
        const { position, ...counts } = await redrive(services, action, selected, dry_run, cause)
        return {
          body: { dry_run, ...counts },
          position: dry_run ? present : services.reading.ackPosition(ackScopeOf(team), position ?? present),
        }
      }
    },
  })

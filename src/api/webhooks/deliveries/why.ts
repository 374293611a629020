import type * as t from 'io-ts'
import type { Services } from '../../../application/services.js'
import { describeUnmet } from '../../../domain/webhooks/automations/matching/describe-unmet.js'
import type { Unmet } from '../../../domain/webhooks/automations/matching/verdict.js'
import { versionHistory } from '../../../domain/webhooks/automations/matching/version-history.js'
import { nullable, withDefault } from '../../../kernel/codec/containers.js'
import { instant, instantOf } from '../../../kernel/codec/instant.js'
import { boolean, int64, number, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { deliverySource, sourceOf } from '../../../domain/webhooks/deliveries/events.js'
import { id } from '../../../kernel/ids.js'
import { findTeamEvent } from '../../../application/webhooks/find-event.js'
import type { RecordedEvent } from '../../../kernel/ports/event-store.js'
import { ofAutomation } from '../one-automation.js'
import type { AnyRoute } from '../../server/route.js'
import { readDirectory } from '../../server/route-kinds.js'
import { judgeAtTime, predictFirings, type PastFiring } from '../../../application/webhooks/replay.js'

const whyQuery = closed('WhyAsked', {
  required: { event: string },
  optional: { stream: withDefault(string, undefined) },
})

const why = open('Why', {
  says:
    'The effect of an event on an automation. `reason` is null if it fired; `says` explains it. The numbers are ' +
    'those of the window, threshold or cooldown.',
  required: {
    event: deliverySource,
    matched: boolean,
    delivery: nullable(id),
    reason: nullable(string),
    says: string,
    value: nullable(number),
    threshold: nullable(number),
    values_there: nullable(int64),
    values_needed: nullable(int64),
    until: nullable(instant),
    automation_revision: nullable(int64),
  },
})

export const whyRoute = (
  services: Pick<Services, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'access' | 'compilePattern'>,
): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/automations/:id/why',
    summary:
      'Explains why an event made an automation fire or not. `event` is its position in the log or its id; some logs ' +
      "find an id only together with its `stream`. Needs membership in the automation's team.",
    query: whyQuery,
    errors: ['overloaded'],
    response: why,
    authorization: ofAutomation(services),
    handle: async ({ automation: { id: automationId, team }, query, principal }) => {
      const event = await findTeamEvent(services.eventStore, query, team, principal, ['query'])
      return { body: await explained(services, automationId, event) }
    },
  })

const explained = async (
  services: Pick<Services, 'eventStore' | 'blobs' | 'sha256' | 'compilePattern'>,
  automationId: string,
  event: RecordedEvent,
): Promise<t.TypeOf<typeof why>> => {
  const decision = await judgeAtTime(services, versionHistory(services.eventStore, automationId))(event)
  const firing = decision && (await predictFirings(services)(event, decision))
  const version = decision?.version
  return {
    event: sourceOf(event),
    matched: firing !== undefined,
    delivery: firing?.deliveryId ?? null,
    value: firing?.figure?.metric_value ?? null,
    threshold: firing?.figure?.threshold ?? null,
    values_there: null,
    values_needed: null,
    until: null,
    automation_revision: version === undefined ? null : Number(version.revision),
    ...(decision?.verdict.matched === false ? unmetAnswer(decision.verdict.unmet) : firingAnswer(firing)),
  }
}

const unmetAnswer = (unmet: Unmet) => ({
  reason: unmet.why,
  says: describeUnmet(unmet),
  ...(unmet.why === 'threshold' ? { value: unmet.value, threshold: unmet.threshold } : {}),
  ...(unmet.why === 'window_not_full' ? { values_there: unmet.has, values_needed: unmet.needs } : {}),
  ...(unmet.why === 'cooldown' ? { until: instantOf(unmet.until) } : {}),
})

const firingAnswer = (firing: PastFiring | undefined) => {
  if (firing === undefined)
    return { reason: 'no_trigger', says: 'No automation can trigger on events of this type.' }
  const { deliveryId, suppressed: reason } = firing
  if (deliveryId === null)
    return { reason: 'webhook_deleted', says: 'The automation fired, but its webhook had been deleted.' }
  const says =
    reason === null
      ? 'The automation fired.'
      : 'The automation fired, but the event was caused by a chain of deliveries that is too long. Nothing is sent.'
  return { reason, says }
}

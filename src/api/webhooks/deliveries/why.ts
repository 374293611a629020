import type { Services } from '../../../application/services.js'
import { mayRead, mayReadFrom } from '../../../domain/access/visible.js'
import { describeUnmet } from '../../../domain/webhooks/automations/matching/describe-unmet.js'
import { triggerOf } from '../../../domain/webhooks/automations/matching/trigger-of.js'
import type { Unmet } from '../../../domain/webhooks/automations/matching/verdict.js'
import { versionHistory } from '../../../domain/webhooks/automations/matching/version-history.js'
import { nullable, withDefault } from '../../../kernel/codec/containers.js'
import { instant, instantOf } from '../../../kernel/codec/instant.js'
import { boolean, int64, number, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { deliverySource } from '../../../domain/webhooks/deliveries/events.js'
import { id } from '../../../kernel/ids.js'
import type { EventStore, RecordedEvent } from '../../../kernel/ports/event-store.js'
import { Failure, invalid } from '../../../application/failure.js'
import type { Principal } from '../../../application/principal.js'
import { ofAutomation } from '../one-automation.js'
import type { AnyRoute } from '../../server/route.js'
import { readDirectory } from '../../server/route-kinds.js'
import { predictFiring, judgeAtTime } from '../../../application/webhooks/retraced.js'
import { sourceOf } from '../../../application/webhooks/source.js'

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
  services: Pick<Services, 'eventStore' | 'ids' | 'sha256' | 'access' | 'compilePattern'>,
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
    handle: async ({
      automation: { id: automationId, team },
      query: { event: named, stream },
      principal,
    }) => {
      if (stream !== undefined && !mayReadFrom(principal, stream)) throw noSuchEvent()
      const event = visible(await found(services.eventStore, named, stream), team, principal)
      return { body: await explained(services, automationId, event) }
    },
  })

/** Finds an event by position or id. */
const found = async (
  eventStore: EventStore,
  named: string,
  stream: string | undefined,
): Promise<RecordedEvent | undefined> => {
  if (stream !== undefined) {
    for await (const event of eventStore.readStream(stream)) if (event.id === named) return event
    return undefined
  }
  if (UUID.test(named)) {
    if (eventStore.findEvent === undefined) throw needsStream()
    return eventStore.findEvent(named.toLowerCase())
  }
  if (!/^\d{1,19}$/.test(named))
    throw notNamed('event', 'Input should be a log position in decimal digits or an event id')
  const position = BigInt(named)
  if (position === 0n) return undefined
  for await (const event of eventStore.readAll({ after: position - 1n, limit: 1 }))
    return event.position === position ? event : undefined
  return undefined
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

const needsStream = () =>
  notNamed(
    'stream',
    'Field required: this log finds an event by id only together with its stream; a position needs no stream',
    'missing',
  )

const notNamed = (field: string, msg: string, type = 'value_error') =>
  invalid([{ loc: ['query', field], type, msg }])

/** An event of another team is a 404. */
const visible = (event: RecordedEvent | undefined, team: string, principal: Principal): RecordedEvent => {
  if (event !== undefined && (triggerOf(event)?.team === team || mayRead(principal, event))) return event
  throw noSuchEvent()
}

const noSuchEvent = () => new Failure('not-found', 'Event not found, or not an event of the team.')

const NOTHING = {
  value: null,
  threshold: null,
  values_there: null,
  values_needed: null,
  until: null,
  delivery: null,
  automation_revision: null,
}

const explained = async (
  services: Pick<Services, 'eventStore' | 'sha256' | 'compilePattern'>,
  automationId: string,
  event: RecordedEvent,
) => {
  const retraced = await judgeAtTime(services, versionHistory(services.eventStore, automationId))(event)
  const about = { ...NOTHING, event: sourceOf(event), matched: false }
  if (retraced === undefined)
    return { ...about, reason: 'no_trigger', says: 'No automation can trigger on events of this type.' }
  const { verdict, version } = retraced
  if (version === undefined || !verdict.matched)
    return {
      ...about,
      ...(version === undefined ? {} : { automation_revision: Number(version.revision) }),
      ...unmetShown(verdict.matched ? { why: 'not_there' } : verdict.unmet),
    }
  const { deliveryId, suppressed } = await predictFiring(services)(event, retraced, version)
  const figure = { value: verdict.figure?.metric_value ?? null, threshold: verdict.figure?.threshold ?? null }
  const automation_revision = Number(version.revision)
  const fired = { ...about, ...figure, automation_revision, matched: true, delivery: deliveryId }
  if (deliveryId === null)
    return {
      ...fired,
      reason: 'webhook_deleted',
      says: 'The automation fired, but its webhook had been deleted.',
    }
  return suppressed === null
    ? { ...fired, reason: null, says: 'The automation fired.' }
    : {
        ...fired,
        reason: suppressed,
        says: 'The automation fired, but the event was caused by a chain of deliveries that is too long. Nothing is sent.',
      }
}

const unmetShown = (unmet: Unmet) => ({
  reason: unmet.why,
  says: describeUnmet(unmet),
  ...(unmet.why === 'threshold' ? { value: unmet.value, threshold: unmet.threshold } : {}),
  ...(unmet.why === 'window_not_full' ? { values_there: unmet.has, values_needed: unmet.needs } : {}),
  ...(unmet.why === 'cooldown' ? { until: instantOf(unmet.until) } : {}),
})

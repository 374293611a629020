import * as t from 'io-ts'
import type { Ports } from '../../../kernel/ports/ports.js'
import { NO_CONDITIONS } from '../../../application/reading/reading.js'
import type { Services } from '../../../application/services.js'
import type { ValidationPorts } from '../../../application/webhooks/checks.js'
import { pastVariables } from '../../../domain/webhooks/automations/matching/past-variables.js'
import { watchConfigOf, type Automation } from '../../../domain/webhooks/automations/decider.js'
import { versionHistory } from '../../../domain/webhooks/automations/matching/version-history.js'
import type { AutomationVersion } from '../../../domain/webhooks/automations/state.js'
import { jsonEqual } from '../../../kernel/json/equal.js'
import type { Position } from '../../../kernel/ports/event-store.js'
import { changedContent } from '../../../application/webhooks/automations.js'
import { Failure, invalid } from '../../../application/failure.js'
import type { AnyRoute, RouteRequest } from '../../server/route.js'
import { alsoReads, readDirectory } from '../../server/route-kinds.js'
import { replayAutomation, type FiredEvent } from '../../../application/webhooks/backtesting.js'
import { renderedFor } from '../../../application/webhooks/rendered.js'
import { judgeWithVersion, judgeAtTime } from '../../../application/webhooks/retraced.js'
import { ofExistingAutomation } from './rights.js'
import { sourceOf } from '../../../application/webhooks/source.js'
import { Codec, refuse } from '../../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { parseInstant, type Instant } from '../../../kernel/codec/instant.js'
import { int64, integerBetween, number, oneOf, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { storedTemplate } from '../../../domain/webhooks/templates/parse.js'
import { deliverySource } from '../../../domain/webhooks/deliveries/events.js'
import { id } from '../../../kernel/ids.js'
import { automationChange } from '../automation-codecs.js'

type LogPoint = { readonly position: bigint } | { readonly time: Instant }

const pointOf = (text: string): LogPoint | undefined => {
  if (/^\d{1,19}$/.test(text)) return { position: BigInt(text) }
  const time = parseInstant(text)
  return time && { time }
}

const point: Codec<LogPoint> = new Codec<LogPoint>(
  'point',
  (u): u is LogPoint => typeof u === 'object' && u !== null && ('position' in u || 'time' in u),
  (u, c) => {
    const read = typeof u === 'string' ? pointOf(u) : undefined
    return read === undefined
      ? refuse(u, c, 'value_error', 'Input should be a log position in decimal digits or a time')
      : t.success(read)
  },
  { type: 'string', description: 'A log position in decimal digits or a time.' },
)

/** Tests the events after `from`, up to and including `to`. */
const backtestBody = closed('Backtest', {
  optional: {
    from: nullable(point),
    to: nullable(point),
    limit: withDefault(integerBetween(1, 1000), 100),
    /** `current` applies the latest version to all events, `historic` the version at the time of each event. */
    versions: withDefault(oneOf('current', 'historic'), 'current'),
    /** Changes to test without applying them. */
    candidate: nullable(automationChange),
  },
})

export const backtested = open('Backtested', {
  says:
    'The deliveries that would have been sent. `next` is the `from` of the next request, null when `to` is reached. A page ' +
    'also ends after a number of events, so it may be empty. Bodies contain the names of secrets instead of their values.',
  required: {
    data: arrayOf(
      open('BacktestedDelivery', {
        required: {
          /** The id that the real delivery has or would have had. */
          delivery: id,
          event_type: string,
          source: deliverySource,
          automation_revision: nullable(int64),
          value: nullable(number),
          threshold: nullable(number),
          body: nullable(string),
          unresolved: arrayOf(string),
          suppressed: nullable(oneOf('loop')),
        },
      }),
    ),
    next: nullable(string),
    /** Includes the events read for windows and cooldowns. */
    events_read: int64,
  },
})

/** Limits the bodies in a response, in characters. */
const MOST_SIZE = 8 * 1024 * 1024

export const backtestRoute = (
  services: ValidationPorts & Pick<Services, keyof Ports | 'access' | 'reading' | 'vendor' | 'publicUrl'>,
): AnyRoute =>
  readDirectory({
    method: 'post',
    path: '/api/automations/:id/backtest',
    summary:
      'The deliveries that an automation would have sent for the events after `from` up to `to`: with its current or ' +
      "earlier content, or with changes. Nothing is sent or written. Needs membership in the automation's team.",
    body: backtestBody,
    errors: alsoReads.errors,
    response: backtested,
    authorization: ofExistingAutomation(services),
    handle: async (asked) => {
      const { body, automation } = asked
      const head = await services.eventStore.head()
      const versions = versionHistory(services.eventStore, automation.id)
      const to = body.to === null ? head : await positionOf(services, body.to, head)
      const after = body.from === null ? 0n : await positionOf(services, body.from, head)
      const judge =
        body.versions === 'historic' && body.candidate === null
          ? judgeAtTime(services, versions)
          : judgeWithVersion(services, await tried(services, asked, automation, (await versions.newest())!))
      const page = await replayAutomation(services, judge, { after, to, limit: body.limit })
      const data = []
      let { next } = page
      let size = 0
      for (const [index, one] of page.fired.entries()) {
        const told = await shown(services, one, body.candidate !== null)
        data.push(told)
        size += told.body?.length ?? 0
        if (size < MOST_SIZE || index === page.fired.length - 1) continue
        next = one.event.position
        break
      }
      return { body: { data, next: next === null ? null : String(next), events_read: page.read } }
    },
  })

type Backtesting = Pick<RouteRequest<t.TypeOf<typeof backtestBody>>, 'body'>

/** The version to test: the latest, with the requested changes, as if it had always applied. */
const tried = async (
  services: ValidationPorts,
  { body }: Backtesting,
  automation: Automation,
  newest: AutomationVersion,
): Promise<AutomationVersion> => {
  const standing = { ...newest, enabled: true }
  if (body.candidate === null) return standing
  const content = await changedContent(services, automation, body.candidate).catch((error: unknown) => {
    throw insideCandidate(error)
  })
  // With other conditions, cooldowns do not start at the automation's last change.
  const isSame = jsonEqual(watchConfigOf(content), watchConfigOf(newest.content))
  return { ...standing, content, conditionsSince: isSame ? newest.conditionsSince : 0n }
}

const insideCandidate = (error: unknown): unknown => {
  if (!(error instanceof Failure) || error.kind !== 'invalid') return error
  const problems = error.details.problems ?? []
  return invalid(
    problems.map((problem) => ({ ...problem, loc: ['body', 'candidate', ...problem.loc.slice(1)] })),
  )
}

/** Limits positions and times to the head of the log. */
const positionOf = async (
  { clock, reading }: Pick<Services, 'clock' | 'reading'>,
  point: LogPoint,
  head: Position,
): Promise<Position> => {
  if ('position' in point) return point.position < head ? point.position : head
  if (Date.parse(point.time) > clock.now().getTime()) return head
  const position = await reading.logPosition({ ...NO_CONDITIONS, asOf: { kind: 'time', time: point.time } })
  return position < head ? position : head
}

const shown = async (
  { eventStore, ...names }: Pick<Services, 'eventStore' | 'vendor' | 'publicUrl'>,
  { event, retraced, version, figure, deliveryId, suppressed }: FiredEvent,
  isCandidate: boolean,
) => {
  const { trigger } = retraced
  const eventType = version.content.event.type
  const template = storedTemplate(version.content)
  const told = { trigger, eventType, figure }
  const variables = template === undefined ? {} : await pastVariables(eventStore, template, told, names)
  return {
    delivery: deliveryId,
    event_type: eventType,
    source: sourceOf(event),
    automation_revision: isCandidate ? null : Number(version.revision),
    value: figure?.metric_value ?? null,
    threshold: figure?.threshold ?? null,
    suppressed,
    ...renderedFor(template, variables),
  }
}

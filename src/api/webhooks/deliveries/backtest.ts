import * as t from 'io-ts'
import type { Ports } from '../../../kernel/ports/ports.js'
import { NO_CONDITIONS } from '../../../application/reading/reading.js'
import type { Services } from '../../../application/services.js'
import type { ValidationPorts } from '../../../application/webhooks/checks.js'
import type { Position } from '../../../kernel/ports/event-store.js'
import { changedContent } from '../../../application/webhooks/automations.js'
import { Failure, invalid } from '../../../application/failure.js'
import type { AnyRoute } from '../../server/route.js'
import { alsoReads, readDirectory } from '../../server/route-kinds.js'
import { backtest } from '../../../application/webhooks/backtesting.js'
import { ofExistingAutomation } from './rights.js'
import { Codec, refuse } from '../../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { parseInstant, type Instant } from '../../../kernel/codec/instant.js'
import { int64, integerBetween, number, oneOf, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { deliverySource, sourceOf } from '../../../domain/webhooks/deliveries/events.js'
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
    handle: async ({ body, automation }) => {
      const head = await services.eventStore.head()
      const { fired, next, read } = await backtest(services, automation, {
        to: body.to === null ? head : await positionOf(services, body.to, head),
        after: body.from === null ? 0n : await positionOf(services, body.from, head),
        limit: body.limit,
        isHistoric: body.versions === 'historic',
        candidate: body.candidate && (await candidateContent(services, automation, body.candidate)),
      })
      const data = fired.map(({ event, version, figure, ...delivery }) => ({
        delivery: delivery.deliveryId,
        event_type: version.content.event.type,
        source: sourceOf(event),
        automation_revision: body.candidate === null ? Number(version.revision) : null,
        value: figure?.metric_value ?? null,
        threshold: figure?.threshold ?? null,
        suppressed: delivery.suppressed,
        body: delivery.body,
        unresolved: delivery.unresolved,
      }))
      return { body: { data, next: next === null ? null : String(next), events_read: read } }
    },
  })

/** The content with the requested changes. Problems are those of fields of the candidate. */
const candidateContent = (...change: Parameters<typeof changedContent>): ReturnType<typeof changedContent> =>
  changedContent(...change).catch((error: unknown) => {
    throw insideCandidate(error)
  })

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

import type { Ports } from '../../../kernel/ports/ports.js'
import { NO_CONDITIONS } from '../../../application/reading/reading.js'
import type { Services } from '../../../application/services.js'
import type * as t from 'io-ts'
import { pastVariables } from '../../../domain/webhooks/automations/matching/past-variables.js'
import { watchConfigOf, type Automation } from '../../../domain/webhooks/automations/decider.js'
import { versionHistory } from '../../../domain/webhooks/automations/matching/version-history.js'
import type { AutomationVersion } from '../../../domain/webhooks/automations/state.js'
import { jsonEqual } from '../../../kernel/json/equal.js'
import type { Position } from '../../../kernel/ports/event-store.js'
import { applyChange } from '../one-automation.js'
import { Failure, invalid } from '../../../application/failure.js'
import type { AnyRoute, RouteRequest } from '../../server/route.js'
import { alsoReads, readDirectory } from '../../server/route-kinds.js'
import { backtestBody, backtested, type LogPoint } from './backtest-codecs.js'
import { replayAutomation, type FiredEvent } from '../../../application/webhooks/backtesting.js'
import { renderedFor, templateOf } from '../../../application/webhooks/rendered.js'
import { judgeWithVersion, judgeAtTime } from '../../../application/webhooks/retraced.js'
import { ofExistingAutomation } from './rights.js'
import { sourceOf } from '../../../application/webhooks/source.js'

/** Limits the bodies in a response, in characters. */
const MOST_SIZE = 8 * 1024 * 1024

export const backtestRoute = (
  services: Pick<Services, keyof Ports | 'access' | 'reading' | 'compilePattern' | 'vendor'>,
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

type Backtesting = Pick<RouteRequest<t.TypeOf<typeof backtestBody>>, 'body' | 'cause'>

/** The version to test: the latest, with the requested changes, as if it had always applied. */
const tried = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'sha256' | 'compilePattern'>,
  { body, cause }: Backtesting,
  automation: Automation,
  newest: AutomationVersion,
): Promise<AutomationVersion> => {
  const standing = { ...newest, enabled: true }
  if (body.candidate === null) return standing
  const content = await applyChange(services, { body: body.candidate, cause }, automation).catch(
    (error: unknown) => {
      throw insideCandidate(error)
    },
  )
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
  { eventStore, vendor }: Pick<Services, 'eventStore' | 'vendor'>,
  { event, retraced, version, figure, deliveryId, suppressed }: FiredEvent,
  isCandidate: boolean,
) => {
  const { trigger } = retraced
  const eventType = version.content.event.type
  const template = templateOf(version.content)
  const told = { trigger, eventType, figure }
  const variables =
    template === undefined ? {} : await pastVariables(eventStore, template, told, vendor.toLowerCase())
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

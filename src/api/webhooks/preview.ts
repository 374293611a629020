import type * as t from 'io-ts'
import type { Ports } from '../../kernel/ports/ports.js'
import { requireRole } from '../../application/access/rights.js'
import { Failure } from '../../application/failure.js'
import type { Services } from '../../application/services.js'
import {
  checkAutomation,
  findWebhook,
  roleFor,
  type ValidationPorts,
} from '../../application/webhooks/checks.js'
import { findTeamEvent } from '../../application/webhooks/find-event.js'
import {
  findNewestMatch,
  MAX_MS,
  type FailedEnds,
  type MatchedEvent,
} from '../../application/webhooks/newest-match.js'
import { messageOf } from '../../application/webhooks/rendered.js'
import { judgeWithVersion } from '../../application/webhooks/replay.js'
import { describeAutomation } from '../../domain/webhooks/automations/describe.js'
import type { AutomationContent } from '../../domain/webhooks/automations/events.js'
import { describeUnmet } from '../../domain/webhooks/automations/matching/describe-unmet.js'
import type { AutomationVersion } from '../../domain/webhooks/automations/state.js'
import { deliverySource, sourceOf } from '../../domain/webhooks/deliveries/events.js'
import type { Webhook } from '../../domain/webhooks/webhook.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { boolean, int64, integerBetween, string } from '../../kernel/codec/leaves.js'
import type { Problem } from '../../kernel/codec/problem.js'
import { closed, open } from '../../kernel/codec/struct.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { failedCallEnds } from '../../projections/calls/failed.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { alsoReads, readDirectory } from '../server/route-kinds.js'
import type { HasReader } from '../server/run.js'
import { previewedAutomation } from './automation-codecs.js'

const MOST_SEARCH_MS = 5000

const previewBody = closed('AutomationPreviewRequest', {
  required: { automation: previewedAutomation },
  optional: {
    event: withDefault(string, undefined),
    stream: withDefault(string, undefined),
    search_ms: withDefault(integerBetween(0, MOST_SEARCH_MS), MAX_MS),
  },
})

const previewError = open('AutomationPreviewError', {
  says: '`start` and `end` are the place within the text of a template or a pattern, in UTF-16 units from 0.',
  required: { loc: arrayOf(string), type: string, msg: string },
  optional: { start: nullable(int64), end: nullable(int64), suggestion: nullable(string) },
})

const preview = open('AutomationPreview', {
  says:
    'What an automation would do. `errors` are the reasons why it cannot be saved. `event` is the newest event that it ' +
    'would fire for, or the one that was asked for; `rendered` is the body of its message, with the names of secrets ' +
    'instead of their values. `matches_7d` counts the matching events of the last 7 days; `complete` is false if the search ' +
    'ended early, after `search_ms`, so that there may be more, and an older `event`. `searched_from` is when the oldest event ' +
    'that was searched was recorded.',
  required: {
    errors: arrayOf(previewError),
    sentence: nullable(string),
    event: nullable(deliverySource),
    matched: nullable(boolean),
    says: nullable(string),
    rendered: nullable(string),
    unresolved: arrayOf(string),
    matches_7d: nullable(int64),
    complete: nullable(boolean),
    searched_from: nullable(instant),
  },
})

type PreviewServices = ValidationPorts &
  Pick<Services, keyof Ports | 'access' | 'vendor' | 'publicUrl' | 'reading'>
type PreviewRequest = RouteRequest<t.TypeOf<typeof previewBody>>

export const previewRoute = (services: PreviewServices): AnyRoute =>
  readDirectory({
    method: 'post',
    path: '/api/automations/preview',
    summary:
      'Shows what an automation would do, without saving it: what is wrong with it, what it does in a sentence, the newest ' +
      'event that it would fire for, and the message about it. `event` (a position or an id) asks for another event. Needs ' +
      'the role that creating it needs.',
    body: previewBody,
    errors: [...alsoReads.errors, 'not-found'],
    response: preview,
    authorization: {
      errors: ['not-found', 'forbidden'],
      authorize: ({ body: { automation }, principal }: PreviewRequest) => {
        requireRole(services.access, principal, automation.team, roleFor(automation.scope))
        return {}
      },
    },
    handle: async (request) => ({ body: await previewOf(services, request) }),
  })

const DAYS_7 = 7 * 24 * 3600 * 1000

const previewOf = async (
  services: PreviewServices,
  {
    body: { automation, event: named, stream, search_ms },
    principal,
    reader,
  }: Pick<PreviewRequest, 'body' | 'principal'> & HasReader,
): Promise<t.TypeOf<typeof preview>> => {
  const {
    team,
    name,
    description,
    payload,
    webhook: webhookName,
    enabled: _,
    action_type: __,
    ...proposed
  } = automation
  const webhook = await webhookOrProblem(services, team, webhookName)
  const found = 'problem' in webhook ? undefined : webhook.webhook
  const {
    problems,
    watch,
    payload: checked,
  } = await checkAutomation(services, team, proposed, payload, found)
  const errors = [...('problem' in webhook ? [webhook.problem] : []), ...problems].map(errorAnswer)
  const askedEvent =
    named === undefined
      ? undefined
      : await findTeamEvent(services.eventStore, { event: named, stream }, team, principal, ['body'])
  if (watch === undefined)
    return { ...nothing, errors, event: askedEvent === undefined ? null : sourceOf(askedEvent) }
  const content: AutomationContent = {
    name,
    description,
    payload,
    secret: found?.content.secret ?? null,
    access_token: found?.content.access_token ?? null,
    ...watch,
    webhook: found?.id ?? '',
  }
  const version = { ...unsaved, team, content }
  const since = new Date(services.clock.now().getTime() - DAYS_7)
  const { newest, matches, isComplete, searchedFrom } = await findNewestMatch(
    services,
    version,
    since,
    search_ms,
    failedEndsOf(services, reader, team, content),
  )
  return {
    errors,
    sentence: describeAutomation(watch, found?.content.name ?? null),
    ...(await messageAbout(services, version, checked !== undefined, askedEvent, newest)),
    matches_7d: matches,
    complete: isComplete,
    searched_from: searchedFrom === undefined ? null : instantOf(searchedFrom),
  }
}

const failedEndsOf = (
  { reading }: Pick<Services, 'reading'>,
  reader: ClickHouseReader,
  team: string,
  { event, scope }: AutomationContent,
): FailedEnds | undefined => {
  if (event.type !== 'CALL_FAILED') return undefined
  const project = `${team}/${scope.project}`
  return async (before, limit) => {
    try {
      await reading.waitForNow(project, { minPosition: before, stale: false }, before)
    } catch {
      return undefined
    }
    return failedCallEnds(reader, project, before, limit)
  }
}

const nothing = {
  sentence: null,
  event: null,
  matched: null,
  says: null,
  rendered: null,
  unresolved: [],
  matches_7d: null,
  complete: null,
  searched_from: null,
}

/** An automation that has always been there. */
const unsaved: Omit<AutomationVersion, 'team' | 'content'> = {
  id: 'aut_unsaved',
  enabled: true,
  deleted: false,
  since: 0n,
  revision: 0n,
  conditionsSince: 0n,
}

const webhookOrProblem = async (
  services: PreviewServices,
  team: string,
  named: string | null,
): Promise<{ readonly webhook: Webhook } | { readonly problem: Problem }> => {
  if (named === null) return { problem: { loc: ['webhook'], type: 'missing', msg: 'Field required' } }
  try {
    return { webhook: await findWebhook(services, team, named) }
  } catch (error) {
    const [problem] = error instanceof Failure ? (error.details.problems ?? []) : []
    if (problem === undefined) throw error
    return { problem: { ...problem, loc: problem.loc.slice(1) } }
  }
}

const errorAnswer = ({ loc, type, msg, ctx }: Problem): t.TypeOf<typeof previewError> => ({
  loc: loc.map(String),
  type,
  msg,
  start: ctx?.start ?? null,
  end: ctx?.end ?? null,
  suggestion: ctx?.suggestion ?? null,
})

/** The message about the event that was asked for, or else about the newest match. */
const messageAbout = async (
  services: PreviewServices,
  version: AutomationVersion,
  isTemplate: boolean,
  asked: RecordedEvent | undefined,
  newest: MatchedEvent | undefined,
) => {
  const event = asked ?? newest?.event
  if (event === undefined) return { event: null, matched: null, says: null, rendered: null, unresolved: [] }
  const decision = asked === undefined ? newest?.decision : await judgeWithVersion(services, version)(asked)
  const rendered =
    decision === undefined || !isTemplate ? undefined : await messageOf(services, version.content, decision)
  return {
    event: sourceOf(event),
    matched: decision?.verdict.matched ?? false,
    says:
      decision === undefined
        ? 'No automation can trigger on events of this type.'
        : decision.verdict.matched
          ? null
          : describeUnmet(decision.verdict.unmet),
    rendered: rendered?.body ?? null,
    unresolved: rendered?.unresolved ?? [],
  }
}

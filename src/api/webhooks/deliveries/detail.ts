import type { Services } from '../../../application/services.js'
import type * as t from 'io-ts'
import type { DeliveryHistory, AttemptHistory } from '../../../domain/webhooks/deliveries/history.js'
import { hintOfFailure, hintOfStatus } from '../../../domain/webhooks/hints.js'
import { withoutSentCredentials } from '../../../domain/secrets/credentials.js'
import type { AttemptRecord } from '../../../kernel/ports/attempt-records.js'
import { hasRole } from '../../../application/access/rights.js'
import type { AnyRoute, RouteRequest } from '../../server/route.js'
import { isAsOf } from '../../server/read-conditions.js'
import { alsoAsOf, readLog } from '../../server/route-kinds.js'
import { deliveryDetail, detailQuery } from './codecs.js'
import { bodyOf } from '../../../application/webhooks/rendered.js'
import { noSuchDelivery, ofDelivery } from './rights.js'
import { describeDeliveries, readDelivery, webhookUrls } from '../../../application/webhooks/deliveries.js'

const MOST_ATTEMPTS = 50

export const deliveryDetailRoute = (
  services: Pick<Services, 'eventStore' | 'ids' | 'clock' | 'access' | 'attempts' | 'vendor' | 'reading'>,
): AnyRoute =>
  readLog(services, {
    method: 'get',
    path: '/api/deliveries/:id',
    summary:
      'Reads a delivery with its newest attempts from the log, for members of its team. Earlier attempts with ' +
      '`attempts_before`. Addresses, bodies and cookies of receivers and signatures are shown to team administrators. Messages are ' +
      'kept for 90 days in the process that sent them.',
    query: detailQuery,
    ...alsoAsOf,
    response: deliveryDetail,
    authorization: ofDelivery(services, attemptsIn),
    handle: (request) => async (position) => {
      const { principal, headers, params } = request
      const isPast = isAsOf(headers)
      const delivery = isPast
        ? await readDelivery(services, params['id']!, attemptsIn(request), position)
        : request.delivery
      if (delivery === null) throw noSuchDelivery()
      const detail = await detailJson(services, delivery, isPast)
      const attempts = hasRole(services.access, principal, detail.team, 'team_administrator')
        ? await withUrls(services, detail)
        : detail.attempts.map(forMembers(services.vendor))
      return { body: { ...detail, attempts } }
    },
  })

const attemptsIn = ({
  query: { attempts_before: before = Infinity },
}: Pick<RouteRequest<unknown, t.TypeOf<typeof detailQuery>>, 'query'>) => ({ most: MOST_ATTEMPTS, before })

/** Whether a header of a message neither describes its receiver nor proves anything to it. */
const isOpenHeader = (name: string, vendor: string): boolean =>
  /^(?:content-type|webhook-id|webhook-timestamp)$/i.test(name) ||
  (name.toLowerCase().startsWith(`x-${vendor.toLowerCase()}-`) && !/-signature$/i.test(name))

/** The receiver, what it answers and what it trusts are for team administrators. */
const forMembers =
  (vendor: string) =>
  ({
    request_headers: sent,
    response,
    ...attempt
  }: Detail['attempts'][number]): Detail['attempts'][number] => ({
    ...attempt,
    peer: null,
    request_headers:
      sent &&
      Object.fromEntries(
        Object.entries(sent).map(([name, value]) => [name, isOpenHeader(name, vendor) ? value : '[secret]']),
      ),
    response: response && {
      ...response,
      headers: Object.fromEntries(
        Object.entries(response.headers).filter(([name]) => !/^set-cookie2?$/i.test(name)),
      ),
      body: null,
    },
  })

/** Adds the URL that the webhook had when each attempt was sent. */
const withUrls = async (
  services: Pick<Services, 'eventStore'>,
  { webhook, attempts }: Detail,
): Promise<Detail['attempts']> => {
  const [oldest] = attempts
  if (webhook === null || oldest === undefined) return attempts
  const urlAt = await webhookUrls(services, webhook, oldest.webhook_revision)
  return attempts.map((attempt) => ({ ...attempt, url: urlAt(attempt.webhook_revision) }))
}

type Detail = t.TypeOf<typeof deliveryDetail>

const detailJson = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'clock' | 'attempts'>,
  { scheduled, suppressed, state, at, attempts, hasEarlier }: DeliveryHistory,
  isPast: boolean,
): Promise<Detail> => {
  const { delivery_id, team, automation_id, source, depth } = (scheduled ?? suppressed)!
  const first = attempts[0]?.started.attempt ?? 0
  const ended = attempts.flatMap(({ started: { attempt }, endedAt }) =>
    endedAt === null ? [] : [{ attempt, endedAt: Date.parse(endedAt) }],
  )
  const kept = await services.attempts.of(delivery_id, ended)
  const records = new Map(kept.map((record) => [record.attempt, record]))
  const body =
    scheduled === null ? { body: null, unresolved: [] } : await bodyOf(services.eventStore, scheduled)
  const webhook = scheduled?.webhook_id ?? null
  const stored = {
    webhook,
    automation: automation_id,
    state: state.phase === 'absent' ? ('pending' as const) : state.phase,
    next_at: 'dueAt' in state ? state.dueAt : null,
    changed_at: at,
  }
  const [described] = await describeDeliveries(services, [stored], isPast)
  const isOver = state.phase === 'succeeded' || state.phase === 'dead' || state.phase === 'canceled'
  return {
    id: delivery_id,
    team,
    automation: automation_id,
    automation_revision: scheduled?.automation_revision ?? null,
    webhook,
    event_type: scheduled?.event_type ?? null,
    ...described!,
    reason: suppressed?.reason ?? ('reason' in state ? state.reason : null),
    source,
    depth,
    variables: scheduled?.variables ?? {},
    ...body,
    scheduled_at: scheduled?.scheduled_at ?? source.recorded_at,
    finished_at: isOver ? at : null,
    attempts: attempts.map((attempt) => attemptJson(attempt, records.get(attempt.started.attempt))),
    attempts_before: hasEarlier ? first : null,
  }
}

const hintOf = (finished: AttemptHistory['finished']): string | null => {
  if (finished?.status != null) return hintOfStatus(finished.status)
  return finished?.error == null ? null : hintOfFailure(finished.error)
}

const attemptJson = (
  { started, finished, isUnknown, endedAt }: AttemptHistory,
  record: AttemptRecord | undefined,
): Detail['attempts'][number] => ({
  attempt: started.attempt,
  outcome: finished?.outcome ?? (isUnknown ? 'unknown' : 'under_way'),
  started_at: started.started_at,
  deadline_at: started.deadline_at,
  finished_at: endedAt,
  webhook_revision: started.webhook_revision,
  url: null,
  possible_duplicate: started.possible_duplicate,
  status: finished?.status ?? null,
  error: finished?.error ?? null,
  reason: finished?.reason ?? null,
  hint: hintOf(finished),
  phases: finished?.phases ?? {},
  peer: finished?.peer ?? null,
  body_digest: finished?.body_digest ?? null,
  body_bytes: finished?.body_bytes ?? null,
  next_at: finished?.next_at ?? null,
  request_headers:
    record?.requestHeaders === undefined ? null : withoutSentCredentials(record.requestHeaders),
  response:
    record === undefined || record.status === null
      ? null
      : { status: record.status, headers: record.responseHeaders, body: record.responseBody },
})

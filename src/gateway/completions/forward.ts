import { bodyFor, type EndpointRequest } from '../endpoints/endpoint.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import {
  addressOf,
  SLOW_READER,
  UpstreamFault,
  type UpstreamAnswer,
  type UpstreamEnd,
} from '../../domain/gateway/upstreams/upstream-client.js'
import type { RequestOutcome } from '../../domain/gateway/upstreams/health.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import { Failure } from '../../application/failure.js'
import type { Gateway } from '../gateway.js'
import type { UpstreamCredentials } from '../upstreams/upstream-credentials.js'
import type { Lease } from '../upstreams/target-states.js'
import { answerTooLarge, readError } from './read-answer.js'
import type { PassedOn } from './request-context.js'
import type { Serving } from './serving.js'
import { redactCredential, resolveCredential, upstreamHeaders } from './upstream-credential.js'
import { failureOfError, failureOfFault, failureOfStatus, memoryUsedUp } from './upstream-failure.js'

/** One request to an upstream, as recorded in `summary.tallytree.tries`. */
interface Attempt extends JsonObject {
  readonly upstream: string
  readonly outcome: string
}

/** A response with a status of success. */
export interface UpstreamResponse {
  readonly target: Target
  readonly answer: UpstreamAnswer
  /** Logs an error that the response reports, and returns its failure. */
  readonly reportedFailure: (reported: Json) => Failure
}

export interface Forwarded<Opened> extends UpstreamResponse {
  readonly opened: Opened
  readonly attempts: readonly Attempt[]
}

export interface ForwardedRequest<Opened> {
  readonly serving: Pick<Serving, 'sent' | 'text'>
  readonly targets: readonly Target[]
  readonly affinityKey: string | undefined
  readonly passedOn: PassedOn
  readonly recordsContent: boolean
  readonly signal: AbortSignal
  /** Reads the first part of the completion. Throws a Failure or an UpstreamFault if the response has none. */
  readonly open: (response: UpstreamResponse) => Promise<Opened>
}

/** No target returned a completion. `failure` is the one of the last target. */
export class AllTargetsFailed extends Error {
  override readonly name = 'AllTargetsFailed'
  constructor(
    readonly failure: Failure,
    readonly attempts: readonly Attempt[],
    /** Whether an upstream may have processed the request, and charge for it. */
    readonly mayBeCharged: boolean,
  ) {
    super(failure.reason)
  }
}

const MAX_WAIT_MS = 3000

const atConcurrencyLimit = new Failure(
  'overloaded',
  'All upstreams of the model are at their concurrency limit. Try again.',
  { retryAfter: 2 },
)

/**
 * Tries targets in order until one returns the first part of a completion. Targets at their concurrency limit are skipped,
 * and waited for when the others have failed.
 *
 * @throws AllTargetsFailed
 */
export const forward = async <Opened>(
  gateway: Gateway,
  forwarded: ForwardedRequest<Opened>,
): Promise<Forwarded<Opened>> => {
  const { targets, affinityKey, signal } = forwarded
  const attempts: Attempt[] = []
  let failure = atConcurrencyLimit
  let mayBeCharged = false
  let isFinal = true
  let left = gateway.targets.inOrder(targets, affinityKey)
  let patienceMs = MAX_WAIT_MS
  while (left.length > 0) {
    const since = performance.now()
    const lease =
      gateway.targets.enter(left, targets) ?? (await gateway.targets.wait(left, targets, patienceMs, signal))
    if (lease === undefined) {
      isFinal = false
      break
    }
    patienceMs = Math.max(0, patienceMs - (performance.now() - since))
    left = left.filter((target) => target !== lease.target)
    const tried = await tryTarget(gateway, forwarded, lease, attempts)
    if ('answer' in tried) return tried
    ;({ failure } = tried)
    mayBeCharged ||= tried.mayBeCharged
    isFinal &&= failure.details.isFinal === true
    if (tried.isAborted) throw new AllTargetsFailed(failure, attempts, mayBeCharged)
    if (!tried.mayTryNext) break
  }
  // A retry is useless only if it would be at every target.
  const { kind, reason, details } = failure
  throw new AllTargetsFailed(new Failure(kind, reason, { ...details, isFinal }), attempts, mayBeCharged)
}

interface FailedAttempt {
  readonly failure: Failure
  readonly mayTryNext: boolean
  readonly isAborted: boolean
  readonly mayBeCharged: boolean
}

/** A mistake of the client, or a lack of memory, is the same at every upstream. */
const SAME_EVERYWHERE = new Set<Failure['kind']>(['bad-request', 'invalid', 'overloaded'])

const failed = (failure: Failure, details: Partial<FailedAttempt> = {}): FailedAttempt => ({
  failure,
  mayTryNext: !SAME_EVERYWHERE.has(failure.kind),
  isAborted: false,
  mayBeCharged: false,
  ...details,
})

const tryTarget = async <Opened>(
  gateway: Gateway,
  forwarded: ForwardedRequest<Opened>,
  lease: Lease,
  attempts: Attempt[],
): Promise<Forwarded<Opened> | FailedAttempt> => {
  const { target } = lease
  const { upstream, model } = target
  const note = (outcome: string, metric: string) => {
    attempts.push({ upstream: upstream.content.name, outcome })
    gateway.metrics.tries.add({ outcome: metric })
  }
  const credentials = await resolveCredential(gateway, upstream)
  if ('failure' in credentials) {
    note(credentials.outcome, 'fault')
    lease.end('nothing')
    return failed(credentials.failure, { mayTryNext: true })
  }
  const redact = redactCredential(credentials)
  const logged = (status: number, failure: Failure): Failure => {
    const { reason, details } = failure
    const message = forwarded.recordsContent ? reason : (details.reasonWithoutQuote ?? reason)
    gateway.log.warn('gateway.upstream_error', {
      upstream: upstream.content.name,
      model: model.id,
      status,
      message,
    })
    return failure
  }
  try {
    const { answer, error } = await send(gateway, forwarded, target, credentials, note)
    if (answer.status >= 300) {
      const failure = logged(answer.status, failureOfStatus(answer.status, answer.headers, error, redact))
      lease.end(outcomeOfFailure(failure, answer.status, 'retry-after' in answer.headers))
      note(`status ${answer.status}`, answer.status >= 500 ? 'fault' : 'refused')
      return failed(failure)
    }
    const reportedFailure = (reported: Json) => logged(answer.status, failureOfError(reported, redact))
    const response = { target, answer, reportedFailure }
    const opened = await forwarded.open(response)
    note('answered', 'answered')
    lease.begin()
    void answer.ended.then((end) => lease.end(outcomeOfEnd(end)))
    return { ...response, opened, attempts }
  } catch (error) {
    if (error instanceof Failure) {
      lease.end(outcomeOfFailure(error))
      note('no completion', 'fault')
      // The upstream has answered; only the answer finds no memory here.
      return failed(error, { mayBeCharged: error === memoryUsedUp || error === answerTooLarge })
    }
    lease.end(error instanceof UpstreamFault ? outcomeOfEnd(error) : 'nothing')
    if (!(error instanceof UpstreamFault)) throw error
    const isAborted = error.kind === 'aborted'
    note(error.message, isAborted ? 'aborted' : 'fault')
    return failed(failureOfFault(error), { mayTryNext: true, isAborted, mayBeCharged: error.mayHaveWorked })
  }
}

type Note = (outcome: string, metric: string) => void

interface Sent {
  readonly answer: UpstreamAnswer
  /** The body of a response with an error status. */
  readonly error: Json | undefined
}

/** Sends the request, again without `stream_options` if the upstream refuses them. */
const send = async (
  gateway: Gateway,
  forwarded: ForwardedRequest<unknown>,
  target: Target,
  credentials: UpstreamCredentials,
  note: Note,
): Promise<Sent> => {
  const post = async (requestsUsage: boolean): Promise<Sent> => {
    const answer = await postTo(gateway, forwarded, target, { ...credentials, requestsUsage })
    return { answer, error: answer.status < 300 ? undefined : await readError(answer) }
  }
  const { id, content } = target.upstream
  const sent = await post(content.stream_options && !gateway.withoutStreamOptions.has(id))
  const { status } = sent.answer
  if (!hasOnlyOurOptions(forwarded.serving.sent) || !refusesStreamOptions(status, sent.error)) return sent
  note(`status ${status}`, 'refused')
  const repeated = await post(false)
  if (repeated.answer.status < 300) gateway.withoutStreamOptions.add(id)
  return repeated
}

/** Sent once, also if a pooled connection breaks: the upstream may have begun to work on it (RFC 9110, 9.2.2). */
const postTo = (
  gateway: Gateway,
  { serving: { sent, text }, passedOn, recordsContent, signal }: ForwardedRequest<unknown>,
  { upstream, model }: Target,
  credentials: UpstreamCredentials & { readonly requestsUsage: boolean },
): Promise<UpstreamAnswer> => {
  const { timeouts, continuous_usage_stats: continuousUsage } = upstream.content
  const { requestsUsage, query } = credentials
  const { endpoint, stream } = sent
  const options = { stream, requestsUsage, continuousUsage, recordsContent }
  const headers = upstreamHeaders(
    stream ? 'text/event-stream' : 'application/json',
    credentials,
    endpoint.form,
  )
  return gateway.upstreamClient.ask(
    {
      url: addressOf(upstream, endpoint.path, { ...passedOn.query, ...query }),
      headers: { 'content-type': 'application/json', ...passedOn.headers, ...headers },
      body: bodyFor(sent, text, model.upstream_id, options),
      timeouts,
      isGuarded: upstream.isConfigured !== true,
      isFresh: false,
    },
    signal,
  )
}

/** Otherwise the upstream may refuse an option of the client, and the setting must not change for later requests. */
const hasOnlyOurOptions = ({ endpoint, stream, given: { stream_options } }: EndpointRequest): boolean =>
  endpoint.asksForUsage &&
  stream &&
  Object.keys(stream_options ?? {}).every((name) => name === 'include_usage')

/** Error formats differ, so the option's name is searched anywhere in the error. */
const refusesStreamOptions = (status: number, error: Json | undefined): boolean =>
  (status === 400 || status === 422) && error !== undefined && jsonText(error).includes('stream_options')

/** An upstream with one of these statuses is skipped for a while: its key, quota or rate limit is the cause. */
const COOLDOWN_STATUSES = new Set([401, 402, 403, 429])

const outcomeOfFailure = (
  { kind, details: { retryAfter } }: Failure,
  status?: number,
  hasRetryAfter = false,
): RequestOutcome => {
  if (kind === 'rate-limited' || (status !== undefined && COOLDOWN_STATUSES.has(status)))
    return { coolMs: hasRetryAfter && retryAfter !== undefined ? retryAfter * 1000 : null }
  if (kind === 'upstream-overloaded') return 'fault'
  return kind === 'upstream-failed' && (status === undefined || status >= 500) ? 'fault' : 'answer'
}

const outcomeOfEnd = (end: UpstreamEnd): RequestOutcome => {
  if (end === 'complete') return 'answer'
  if (end === 'left' || end.code === SLOW_READER) return 'nothing'
  return end.kind === 'aborted' ? 'nothing' : 'fault'
}

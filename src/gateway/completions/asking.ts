import { upstreamRequest, type CompletionRequest } from '../answer/request.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import {
  addressOf,
  KEPT_CONNECTION,
  SLOW_READER,
  USER_AGENT,
  UpstreamFault,
  type UpstreamEnd,
  type UpstreamAnswer,
} from '../../domain/gateway/upstreams/upstream-client.js'
import { redactSecrets, secretMatcher, type Redact } from '../../domain/secrets/redact-secrets.js'
import type { RequestOutcome } from '../../domain/gateway/upstreams/health.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import { Failure } from '../../application/failure.js'
import type { GatewayServices } from '../gateway.js'
import type { UpstreamCredentials } from '../upstreams/upstream-credentials.js'
import type { Visit } from '../upstreams/live-targets.js'
import { credentialsFor } from './bearer.js'
import { readError } from './read-answer.js'
import { failureOfError, failureOfFault, failureOfStatus } from './upstream-failure.js'

/** One try at an upstream, as the call keeps it. */
interface Try extends JsonObject {
  readonly upstream: string
  readonly outcome: string
}

/** A response of an upstream whose status promises an answer. */
export interface Answering {
  readonly target: Target
  readonly answer: UpstreamAnswer
  /** Logs an error that the answer reports, and makes it a failure. */
  readonly errorIn: (reported: Json) => Failure
}

export interface Asked<A> {
  readonly target: Target
  readonly answer: UpstreamAnswer
  readonly begun: A
  readonly tries: readonly Try[]
}

/** Every target was asked that could be; the last one's failure counts. */
export class NobodyAnswered extends Error {
  override readonly name = 'NobodyAnswered'
  constructor(
    readonly failure: Failure,
    readonly tries: readonly Try[],
    /** Whether an upstream may have worked on the request, so that it may have to be paid for. */
    readonly isOwed: boolean,
  ) {
    super(failure.reason)
  }
}

/** How long a request waits for room at its upstreams, all in all. */
const MOST_WAIT_MS = 3000

type Asking = Pick<GatewayServices, 'gateway'>

/**
 * Asks the targets in turn until the answer of one begins: until then the client has nothing of it. `begin` reads that
 * beginning, and throws a Failure or an UpstreamFault if there is no completion. Targets without room are passed over, and
 * waited for when all others failed.
 */
export const ask = async <A>(
  { gateway }: Asking,
  request: CompletionRequest,
  targets: readonly Target[],
  signal: AbortSignal,
  logsMessages: boolean,
  begin: (answering: Answering) => Promise<A>,
): Promise<Asked<A>> => {
  const tries: Try[] = []
  let failure = noRoom
  let isOwed = false
  let isFinal = true
  let left = gateway.targets.inOrder(targets)
  let patienceMs = MOST_WAIT_MS
  while (left.length > 0) {
    const since = performance.now()
    const visit =
      gateway.targets.enter(left, targets) ?? (await gateway.targets.wait(left, targets, patienceMs, signal))
    if (visit === undefined) {
      isFinal = false
      break
    }
    patienceMs = Math.max(0, patienceMs - (performance.now() - since))
    left = left.filter((target) => target !== visit.target)
    const tried = await askOne({ gateway }, request, visit, signal, tries, logsMessages, begin)
    if ('answer' in tried) return tried
    ;({ failure } = tried)
    isOwed ||= tried.isOwed
    isFinal &&= failure.details.isFinal === true
    if (tried.isAborted) throw new NobodyAnswered(failure, tries, isOwed)
    if (!tried.mayGoOn) break
  }
  // One of the others may answer the next time, whatever the last one says.
  const { kind, reason, details } = failure
  throw new NobodyAnswered(new Failure(kind, reason, { ...details, isFinal }), tries, isOwed)
}

const noRoom = new Failure(
  'overloaded',
  'All upstreams of the model are at their concurrency limit. Try again.',
  { retryAfter: 2 },
)

interface Failed {
  readonly failure: Failure
  /** Whether another upstream may do better. */
  readonly mayGoOn: boolean
  readonly isAborted: boolean
  /** Whether the upstream may have worked on the request. */
  readonly isOwed: boolean
}

const askOne = async <A>(
  { gateway }: Asking,
  request: CompletionRequest,
  visit: Visit,
  signal: AbortSignal,
  tries: Try[],
  logsMessages: boolean,
  begin: (answering: Answering) => Promise<A>,
): Promise<Asked<A> | Failed> => {
  const { target } = visit
  const note = (outcome: string, counted: string) => {
    tries.push({ upstream: target.upstream.content.name, outcome })
    gateway.metrics.tries.add({ outcome: counted })
  }
  const sent = await credentialsFor(gateway, target.upstream)
  if ('failure' in sent) {
    note(sent.outcome, 'fault')
    visit.end('nothing')
    return { failure: sent.failure, mayGoOn: true, isAborted: false, isOwed: false }
  }
  const { secrets } = sent
  const redact: Redact = (text) =>
    secrets.length === 0 ? text : redactSecrets([secretMatcher(secrets)])(text)
  const logged = (status: number, failure: Failure): Failure => {
    const { reason, details } = failure
    gateway.log.warn('gateway.upstream_error', {
      upstream: target.upstream.content.name,
      model: target.model.id,
      status,
      message: logsMessages ? reason : (details.reasonWithoutQuote ?? reason),
    })
    return failure
  }
  try {
    const post = (requestsUsage: boolean) =>
      postTo({ gateway }, request, target, { ...sent, requestsUsage }, signal, () =>
        note(`reset ${KEPT_CONNECTION}`, 'fault'),
      )
    let answer = await post(
      target.upstream.content.stream_options && !gateway.withoutStreamOptions.has(target.upstream.id),
    )
    let error = answer.status < 300 ? undefined : await readError(answer.body)
    if (hasOnlyOurOptions(request) && refusesStreamOptions(answer.status, error)) {
      note(`status ${answer.status}`, 'refused')
      answer = await post(false)
      error = answer.status < 300 ? undefined : await readError(answer.body)
      if (answer.status < 300) gateway.withoutStreamOptions.add(target.upstream.id)
    }
    if (answer.status >= 200 && answer.status < 300) {
      const errorIn = (reported: Json) => logged(answer.status, failureOfError(reported, redact))
      const begun = await begin({ target, answer, errorIn })
      note('answered', 'answered')
      visit.begin()
      void answer.ended.then((ended) => visit.end(shownBy(ended)))
      return { target, answer, begun, tries }
    }
    const failure = logged(answer.status, failureOfStatus(answer.status, answer.headers, error, redact))
    visit.end(shownByFailure(failure, answer.status, 'retry-after' in answer.headers))
    note(`status ${answer.status}`, answer.status >= 500 ? 'fault' : 'refused')
    return refusal(failure)
  } catch (error) {
    if (error instanceof Failure) {
      visit.end(shownByFailure(error))
      note('no completion', 'fault')
      return refusal(error)
    }
    visit.end(error instanceof UpstreamFault ? shownBy(error) : 'nothing')
    if (!(error instanceof UpstreamFault)) throw error
    note(error.message, error.kind === 'aborted' ? 'aborted' : 'fault')
    const isAborted = error.kind === 'aborted'
    return { failure: failureOfFault(error), mayGoOn: true, isAborted, isOwed: error.mayHaveWorked }
  }
}

/** A kept connection that turns out to be closed says nothing of the upstream: it is asked over a new one. */
const postTo = async (
  { gateway }: Asking,
  request: CompletionRequest,
  { upstream, model }: Target,
  { bearer, headers, query, requestsUsage }: UpstreamCredentials & { readonly requestsUsage: boolean },
  signal: AbortSignal,
  onKept: () => void,
): Promise<UpstreamAnswer> => {
  const { timeouts, continuous_usage_stats } = upstream.content
  const body = upstreamRequest(request, model.upstream_id, {
    requestsUsage,
    continuousUsage: continuous_usage_stats,
  })
  const began = performance.now()
  const post = (isFresh: boolean) =>
    gateway.upstreamClient.ask(
      {
        url: addressOf(upstream, 'chat/completions', query),
        headers: {
          'content-type': 'application/json',
          accept: request.stream ? 'text/event-stream' : 'application/json',
          'accept-encoding': 'identity',
          'user-agent': USER_AGENT,
          ...headers,
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        },
        body: jsonText(body),
        timeouts: { ...timeouts, total_ms: Math.max(1, timeouts.total_ms - (performance.now() - began)) },
        isGuarded: upstream.isConfigured !== true,
        isFresh,
      },
      signal,
    )
  try {
    return await post(false)
  } catch (error) {
    if (!(error instanceof UpstreamFault) || error.code !== KEPT_CONNECTION) throw error
    onKept()
    return post(true)
  }
}

/** Other options of the client may be what the upstream refuses: they say nothing about the next request. */
const hasOnlyOurOptions = ({ stream, given: { stream_options } }: CompletionRequest): boolean =>
  stream && Object.keys(stream_options ?? {}).every((name) => name === 'include_usage')

/** Some upstreams know no `stream_options`, and say so in many forms. */
const refusesStreamOptions = (status: number, error: Json | undefined): boolean =>
  (status === 400 || status === 422) && error !== undefined && jsonText(error).includes('stream_options')

/** The client's mistakes are the same at every upstream. Nothing is owed for a refusal. */
const refusal = (failure: Failure): Failed => ({
  failure,
  mayGoOn: failure.kind !== 'bad-request' && failure.kind !== 'invalid',
  isAborted: false,
  isOwed: false,
})

/** Statuses of an upstream whose key, quota or rate is at fault: it is left alone for a while. */
const COOLING = new Set([401, 402, 403, 429])

const shownByFailure = (
  { kind, details: { retryAfter } }: Failure,
  status?: number,
  saysWhen = false,
): RequestOutcome => {
  if (kind === 'rate-limited' || (status !== undefined && COOLING.has(status)))
    return { coolMs: saysWhen && retryAfter !== undefined ? retryAfter * 1000 : null }
  return kind === 'upstream-failed' && (status === undefined || status >= 500) ? 'fault' : 'answer'
}

const shownBy = (ended: UpstreamEnd): RequestOutcome => {
  if (ended === 'complete') return 'answer'
  if (ended === 'left' || ended.code === SLOW_READER) return 'nothing'
  return ended.kind === 'aborted' ? 'nothing' : 'fault'
}

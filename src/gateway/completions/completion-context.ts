import type { Readable } from 'node:stream'
import type { MemoryLease } from '../../kernel/memory-account.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import { Failure } from '../../application/failure.js'
import type { EndpointRequest } from '../endpoints/endpoint.js'
import { unknown, type ExpectedUsage } from '../answer/usage.js'
import type { Gateway } from '../gateway.js'
import type { CachedAnswer } from './answer-cache.js'
import type { CallRecord } from './call-record.js'
import { AllTargetsFailed, forward, type Forwarded, type UpstreamResponse } from './forward.js'
import type { PassedOn } from './request-context.js'
import type { InFlightCompletion } from './in-flight.js'
import type { Serving } from './serving.js'
import { toFailure } from './upstream-failure.js'

export interface CompletionResponse {
  /** The JSON of a whole completion, or server-sent events. */
  readonly body: string | Readable
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
  /** The log position of the end of a whole completion, or of the start of a streamed one. */
  readonly position: Position | undefined
}

/** A completion that is admitted, and whose start is recorded. */
export interface CompletionContext {
  readonly request: EndpointRequest
  readonly serving: Serving
  readonly targets: readonly Target[]
  /** Requests with the same key go to the same upstream while it is healthy, whose cache has their prompt. */
  readonly affinityKey: string | undefined
  readonly expected: ExpectedUsage
  readonly call: CallRecord
  readonly inFlight: InFlightCompletion
  readonly memory: MemoryLease
  /** Of the client, for upstreams. */
  readonly passedOn: PassedOn
  readonly requestId: string
  /** Of the answer cache; undefined if the answer is not kept there. */
  readonly cacheKey: string | undefined
}

const internalError = new Failure('overloaded', 'Internal server error')

/** Forwards the request and reads the first part of the answer. If all targets fail, the call ends with their failure. */
export const forwardOrFinish = async <Opened>(
  gateway: Gateway,
  completion: CompletionContext,
  open: (response: UpstreamResponse) => Promise<Opened>,
): Promise<Forwarded<Opened>> => {
  const { call, inFlight } = completion
  const { signal } = inFlight
  try {
    return await forward(gateway, { ...completion, recordsContent: call.recordsContent, signal, open })
  } catch (error) {
    const allFailed = error instanceof AllTargetsFailed ? error : undefined
    const failure = toFailure(allFailed?.failure ?? error, signal)
    await call.finish({
      output: null,
      metered: unknown,
      failure: failure ?? internalError,
      ...(allFailed && {
        summary: { tries: allFailed.attempts, ...(allFailed.mayBeCharged ? {} : { owed: false }) },
      }),
    })
    inFlight.done()
    throw failure ?? error
  }
}

/** Keeps a complete answer for equal requests. */
export const keepAnswer = (
  { answers }: Pick<Gateway, 'answers'>,
  { cacheKey, call }: Pick<CompletionContext, 'cacheKey' | 'call'>,
  answer: Omit<CachedAnswer, 'project' | 'callId' | 'at'>,
): void => {
  if (cacheKey === undefined || answer.body['tallytree_truncated'] === true) return
  const { id: callId, project, startedAt } = call
  answers.add(cacheKey, { ...answer, project, callId, at: performance.now() }, startedAt)
}

/** What is recorded of a completion that an upstream has answered. */
export const servedBy = (
  { target: { upstream, model }, attempts }: Forwarded<unknown>,
  { serving: { translate, dropped } }: Pick<CompletionContext, 'serving'>,
) => ({
  upstream: upstream.content.name,
  price: model.price,
  tries: attempts,
  ...(translate === null ? {} : { translated_to: 'chat' }),
  ...(dropped.length === 0 ? {} : { dropped: dropped.slice(0, MOST_DROPPED) }),
})

/** Names of fields that are recorded. */
const MOST_DROPPED = 100

import { Readable } from 'node:stream'
import { answerRoom } from '../answer/answer-room.js'
import { AnswerFold } from '../answer/fold.js'
import { CompletionStream } from '../answer/stream.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { prefetchFirst } from '../../kernel/prefetch-first.js'
import { within } from '../../kernel/within.js'
import type { Failure } from '../../application/failure.js'
import type { Gateway } from '../gateway.js'
import {
  forwardOrFinish,
  servedBy,
  type CompletionContext,
  type CompletionResponse,
} from './completion-context.js'
import type { Forwarded, UpstreamResponse } from './forward.js'
import { clientGone } from './in-flight.js'
import { keptAlive } from './keep-alive.js'
import { MAX_BYTES } from './read-answer.js'
import { eventReader, type EventReader } from './read-events.js'
import {
  END_WITHIN_MS,
  failureOfEnd,
  nextEvents,
  suspectedFailure,
  takeEvents,
  takeValue,
  valueWithoutEvents,
} from './take-events.js'
import { invalidUpstreamResponse, slowClient, toFailure } from './upstream-failure.js'

/** Once the upstream is done, the client has this long to read the rest: a stalled client would hold its reservation. */
const CLIENT_READ_TIMEOUT_MS = 30_000

/**
 * A streamed answer. Its head waits for the first event, so that an upstream that fails before is answered with a status,
 * after which clients retry; but no longer than proxies wait.
 */
export const streamResponse = async (
  gateway: Gateway,
  completion: CompletionContext,
): Promise<CompletionResponse> => {
  const sent: { body?: Readable } = {}
  const forwarding = forwardOrFinish(gateway, completion, (response) => openStream(completion, response))
  const events = forwarding.then((forwarded) => {
    const { idle_ms } = forwarded.target.upstream.content.timeouts
    const stop = () => {
      completion.inFlight.abort(slowClient)
      sent.body?.destroy()
    }
    return untilStalled(clientEvents(forwarded, completion, stop), idle_ms, stop)
  })
  const body = Readable.from(await prefetchFirst(keptAlive(events, gateway.keepAlive)), { highWaterMark: 1 })
  sent.body = body
  return {
    body,
    type: 'text/event-stream; charset=utf-8',
    headers: { 'x-accel-buffering': 'no' },
    position: completion.call.position,
  }
}

/** A stream whose first event for the client was read. */
interface OpenedStream {
  readonly firstText: string
  /** An error that came in the same piece as the first event. */
  readonly failure: Failure | undefined
  readonly stream: CompletionStream
  readonly fold: AnswerFold | null
  readonly reader: EventReader
}

/**
 * Reads an upstream's stream up to the first part of a completion, so that the next target can be tried if there is none.
 *
 * @throws Failure or UpstreamFault
 */
const openStream = async (
  { request, expected, call, memory }: CompletionContext,
  response: UpstreamResponse,
): Promise<OpenedStream> => {
  const { answer, target } = response
  const publicModel = target.model.id
  const options = request.given['stream_options']
  const requestsRunningUsage = isJsonObject(options) && options['continuous_usage_stats'] === true
  const fold = call.recordsContent ? new AnswerFold(publicModel, answerRoom(memory)) : null
  const stream = new CompletionStream(
    {
      publicModel,
      n: request.n,
      includeUsage: request.stream_options?.include_usage === true,
      hidesRunningUsage: target.upstream.content.continuous_usage_stats && !requestsRunningUsage,
      expected,
    },
    fold,
    () => performance.now(),
  )
  const reader = eventReader(answer, target.upstream.content.timeouts, memory)
  try {
    let firstText = ''
    let hasEvents = false
    for (let events = await reader.next(); events !== undefined; events = await reader.next()) {
      const { text, failure } = await takeEvents(stream, events, response)
      firstText += text
      if (stream.isAnswered) return { firstText, failure, stream, fold, reader }
      if (failure !== undefined) throw failure
      if (stream.isDone) break
      if (firstText.length > MAX_BYTES) throw invalidUpstreamResponse(`no content in ${MAX_BYTES} characters`)
      hasEvents ||= events.length > 0
    }
    if (!hasEvents && !stream.isDone && reader.textWithoutEvents().trim() !== '')
      firstText = await takeValue(stream, await valueWithoutEvents(reader, response), response)
    const failure = stream.isAnswered ? undefined : failureOfEnd(stream, response)
    if (failure) throw failure
    return { firstText, failure: undefined, stream, fold, reader }
  } catch (error) {
    fold?.release()
    reader.close()
    throw error
  }
}

/**
 * The events that the client gets. The call is ended before [DONE] is sent, so that a client with a complete answer can
 * rely on its record. `stop` ends the response to a client that does not read it.
 */
async function* clientEvents(
  forwarded: Forwarded<OpenedStream>,
  { call, inFlight }: CompletionContext,
  stop: () => void,
): AsyncGenerator<string> {
  const { opened, answer, target } = forwarded
  const { signal } = inFlight
  const { stream, fold } = opened
  let isOver = false
  let readTimer: NodeJS.Timeout | undefined
  void answer.ended.then(() => {
    if (isOver) return
    const readTimeoutMs = Math.min(CLIENT_READ_TIMEOUT_MS, target.upstream.content.timeouts.total_ms)
    readTimer = setTimeout(stop, readTimeoutMs)
  })
  let failure: Failure | null | undefined
  try {
    opened.reader.patience.pause()
    yield opened.firstText
    opened.reader.patience.resume(true)
    failure = opened.failure ?? (yield* remainingEvents(forwarded, signal))
    if (failure === null) await within(END_WITHIN_MS, answer.ended)
  } finally {
    opened.reader.close()
    // Undefined if the reader of these events left before their end.
    if (failure === undefined) failure = toFailure(undefined, signal) ?? clientGone
    isOver = true
    clearTimeout(readTimer)
    const { contentAt, metered } = stream
    await call.finish({
      output: fold?.whole() ?? null,
      metered,
      failure,
      summary: {
        ...servedBy(forwarded),
        ...(contentAt && { time_to_first_token_ms: Math.round(contentAt - call.startedAt) }),
      },
    })
    fold?.release()
    inFlight.done()
  }
  if (failure !== null) throw failure
  yield 'data: [DONE]\n\n'
}

/** A client that takes nothing for this long would keep its place at the upstream, which waits for it. */
async function* untilStalled(
  events: AsyncIterable<string>,
  ms: number,
  stop: () => void,
): AsyncGenerator<string> {
  for await (const event of events) {
    const timer = setTimeout(stop, ms)
    try {
      yield event
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Returns the failure that ended the stream early, or null for a complete answer. */
async function* remainingEvents(
  { opened: { stream, reader }, reportedFailure }: Forwarded<OpenedStream>,
  signal: AbortSignal,
): AsyncGenerator<string, Failure | null> {
  const { patience } = reader
  try {
    const next = nextEvents(stream, reader)
    for (let events = await next(); events !== undefined; events = await next()) {
      const { parts } = stream
      const { text, failure } = await takeEvents(stream, events, { reportedFailure })
      patience.pause()
      if (text !== '') yield text
      patience.resume(stream.parts > parts)
      if (failure !== undefined) return failure
    }
    return failureOfEnd(stream, { reportedFailure })
  } catch (error) {
    const failure = toFailure(error, signal)
    if (failure === undefined) throw error
    if (signal.aborted) return failure
    return stream.isComplete ? null : (suspectedFailure(stream, { reportedFailure }) ?? failure)
  }
}

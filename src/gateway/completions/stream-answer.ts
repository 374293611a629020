import { Readable } from 'node:stream'
import type { EventSourceMessage } from 'eventsource-parser'
import { AnswerFold } from '../answer/fold.js'
import { CompletionStream } from '../answer/stream.js'
import { choicesIn, chunkOfWhole } from '../answer/whole-answer.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
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
import { eventReader, parsed, rejectCompressed, type EventReader } from './read-answer.js'
import { invalidUpstreamResponse, slowClient, toFailure } from './upstream-failure.js'

const DONE = '[DONE]'

/** After [DONE], wait this long for usage, and for the upstream to close, so that the connection can be reused. */
const END_WITHIN_MS = 50

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
  const forwarding = forwardOrFinish(gateway, completion, (response) =>
    openStream(gateway, completion, response),
  )
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
  { answerRoom }: Pick<Gateway, 'answerRoom'>,
  { request, expected, team, call }: CompletionContext,
  response: UpstreamResponse,
): Promise<OpenedStream> => {
  const { answer, target } = response
  rejectCompressed(answer)
  const publicModel = target.model.id
  const options = request.given['stream_options']
  const requestsRunningUsage = isJsonObject(options) && options['continuous_usage_stats'] === true
  const fold = call.recordsContent ? new AnswerFold(publicModel, answerRoom(team)) : null
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
  const reader = eventReader(answer.body)
  try {
    let firstText = ''
    for (let events = await reader.next(); events !== undefined; events = await reader.next()) {
      const { text, failure } = takeEvents(stream, events, response)
      firstText += text
      if (stream.hasBegun && firstText !== '') return { firstText, failure, stream, fold, reader }
      if (failure !== undefined) throw failure
      if (stream.isDone) break
    }
    firstText = takeWhole(reader.textWithoutEvents(), stream, response)
    return { firstText, failure: undefined, stream, fold, reader }
  } catch (error) {
    fold?.release()
    reader.close()
    throw error
  }
}

/** Some upstreams answer in one piece although a stream was requested, also with an error. */
const takeWhole = (
  text: string,
  stream: CompletionStream,
  { reportedFailure }: Pick<UpstreamResponse, 'reportedFailure'>,
): string => {
  const whole = text.trim() === '' ? undefined : parsed(text)
  if (isJsonObject(whole) && choicesIn(whole) !== undefined) {
    const result = stream.take(chunkOfWhole(whole))
    stream.done()
    if ('chunk' in result && result.chunk !== null) return eventOf(result.chunk)
  }
  if (whole !== undefined) {
    const result = stream.take(whole)
    if ('error' in result) throw reportedFailure(result.error)
  }
  throw invalidUpstreamResponse('the stream has no completion')
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
    yield opened.firstText
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
  yield `data: ${DONE}\n\n`
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
  let until: number | undefined
  try {
    for (;;) {
      if (stream.isDone) until ??= performance.now() + END_WITHIN_MS
      const events = await (until === undefined
        ? reader.next()
        : within(Math.max(0, until - performance.now()), reader.next()))
      if (events === undefined) break
      const { text, failure } = takeEvents(stream, events, { reportedFailure })
      if (text !== '') yield text
      if (failure !== undefined) return failure
    }
    return stream.isComplete ? null : invalidUpstreamResponse('the stream ended without a finish_reason')
  } catch (error) {
    const failure = toFailure(error, signal)
    if (failure === undefined) throw error
    return stream.isComplete && !signal.aborted ? null : failure
  }
}

interface TakenEvents {
  /** What the client gets of them. */
  readonly text: string
  readonly failure?: Failure
}

const takeEvents = (
  stream: CompletionStream,
  events: readonly EventSourceMessage[],
  { reportedFailure }: Pick<UpstreamResponse, 'reportedFailure'>,
): TakenEvents => {
  let text = ''
  for (const { event, data } of events) {
    if (data.trim() === DONE) {
      stream.done()
      continue
    }
    const chunk = parsed(data)
    if (event === 'error') return { text, failure: reportedFailure(chunk ?? data) }
    if (chunk === undefined) {
      // Text that is not JSON, such as `ping`, is skipped. A truncated chunk is an error.
      if (!data.trimStart().startsWith('{')) continue
      return { text, failure: invalidUpstreamResponse('a chunk is not JSON, or is nested too deeply') }
    }
    const result = stream.take(chunk)
    if ('error' in result) return { text, failure: reportedFailure(result.error) }
    if (result.chunk !== null) text += eventOf(result.chunk)
  }
  return { text }
}

const eventOf = (chunk: Json): string => `data: ${jsonText(chunk)}\n\n`

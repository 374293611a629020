import { Readable } from 'node:stream'
import { answerRoom } from '../answer/answer-room.js'
import { costText, unknown, type Metered } from '../answer/usage.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Answer, FailedOptions } from '../endpoints/endpoint.js'
import { prefetchFirst } from '../../kernel/prefetch-first.js'
import { within } from '../../kernel/within.js'
import type { Failure } from '../../application/failure.js'
import type { Gateway } from '../gateway.js'
import {
  forwardOrFinish,
  keepAnswer,
  servedBy,
  type CompletionContext,
  type CompletionResponse,
} from './completion-context.js'
import type { Forwarded, UpstreamResponse } from './forward.js'
import { clientGone } from './in-flight.js'
import { keptAlive } from './keep-alive.js'
import { MAX_BYTES } from './read-answer.js'
import { holdingIn, type EventReader } from './read-events.js'
import { readerOf } from './serving.js'
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
  const { request, call, inFlight } = completion
  const sent: { body?: Readable; answer?: Answer } = {}
  const forwarding = forwardOrFinish(gateway, completion, (response) => openStream(completion, response))
  const events = forwarding.then((forwarded) => {
    sent.answer = forwarded.opened.answer
    const { idle_ms } = forwarded.target.upstream.content.timeouts
    const stop = () => {
      inFlight.abort(slowClient)
      sent.body?.destroy()
    }
    return untilStalled(clientEvents(gateway, forwarded, completion, stop), idle_ms, stop)
  })
  const options = failedOptions(completion)
  const failed = (failure: Failure) => (sent.answer ?? request.endpoint).failed(failure, options)
  const kept = keptAlive(events, gateway.keepAlive, failed)
  const body = Readable.from(await prefetchFirst(kept), { highWaterMark: 1 })
  sent.body = body
  return {
    body,
    type: 'text/event-stream; charset=utf-8',
    headers: { 'x-accel-buffering': 'no' },
    position: call.position,
  }
}

const failedOptions = ({ call, targets, requestId }: CompletionContext): FailedOptions => ({
  callId: call.id,
  requestId,
  model: targets[0]!.model.id,
})

/** A stream whose first event for the client was read. */
interface OpenedStream {
  readonly firstText: string
  /** An error that came in the same piece as the first event. */
  readonly failure: Failure | undefined
  readonly answer: Answer
  readonly reader: EventReader
}

/**
 * Reads an upstream's stream up to the first part of a completion, so that the next target can be tried if there is none.
 *
 * @throws Failure or UpstreamFault
 */
const openStream = async (
  { request, expected, call, memory, serving }: CompletionContext,
  response: UpstreamResponse,
): Promise<OpenedStream> => {
  const { target } = response
  const answer = request.endpoint.answer({
    given: request.given,
    publicModel: target.model.id,
    expected,
    room: call.recordsContent ? answerRoom(memory) : null,
    hidesRunningUsage: target.upstream.content.continuous_usage_stats,
  })
  const reader = readerOf(serving, response, memory)
  try {
    let firstText = ''
    const hold = holdingIn(memory)
    let hasEvents = false
    for (;;) {
      const reading = reader.next()
      const holdsMs = firstText === '' ? Infinity : request.endpoint.holdsHeadMs
      const next = reading.then((events) => ({ events }))
      const read = holdsMs === Infinity ? await next : await within(holdsMs, next)
      if (read === undefined)
        return { firstText, failure: undefined, answer, reader: resumed(reader, reading) }
      const { events } = read
      if (events === undefined) break
      const { text, failure } = await takeEvents(answer, events, response)
      firstText += text
      hold(firstText.length)
      if (answer.isAnswered()) return { firstText, failure, answer, reader }
      if (failure !== undefined) throw failure
      if (answer.isDone()) break
      if (firstText.length > MAX_BYTES) throw invalidUpstreamResponse(`no content in ${MAX_BYTES} characters`)
      hasEvents ||= events.length > 0
    }
    const read = hasEvents || answer.isDone() ? undefined : await reader.withoutEvents()
    if (read !== undefined && read.text.trim() !== '')
      firstText = await takeValue(answer, valueWithoutEvents(answer, read, response), response)
    const failure = answer.isAnswered() ? undefined : failureOfEnd(answer, response)
    if (failure) throw failure
    return { firstText, failure: undefined, answer, reader }
  } catch (error) {
    answer.release()
    reader.close()
    throw error
  }
}

/** A reader whose next events are being read already. */
const resumed = (reader: EventReader, reading: ReturnType<EventReader['next']>): EventReader => {
  let first: typeof reading | undefined = reading
  // It may fail while the client takes its time.
  reading.catch(() => undefined)
  return {
    ...reader,
    next: () => {
      const next = first ?? reader.next()
      first = undefined
      return next
    },
  }
}

/**
 * The events that the client gets. The call is ended before the last of them is sent, so that a client with a complete
 * answer can rely on its record. `stop` ends the response to a client that does not read it.
 */
async function* clientEvents(
  gateway: Gateway,
  forwarded: Forwarded<OpenedStream>,
  completion: CompletionContext,
  stop: () => void,
): AsyncGenerator<string> {
  const { opened, answer: upstreamAnswer, target } = forwarded
  const { call, inFlight } = completion
  const { signal } = inFlight
  const { answer } = opened
  /** The end of the answer, which is sent once the call has ended. */
  const last = { text: '' }
  let isOver = false
  let readTimer: NodeJS.Timeout | undefined
  void upstreamAnswer.ended.then(() => {
    if (isOver) return
    const readTimeoutMs = Math.min(CLIENT_READ_TIMEOUT_MS, target.upstream.content.timeouts.total_ms)
    readTimer = setTimeout(stop, readTimeoutMs)
  })
  let failure: Failure | null | undefined
  try {
    opened.reader.patience.pause()
    if (isEnd(answer)) last.text = opened.firstText
    else yield opened.firstText
    opened.reader.patience.resume(answer.isAnswered())
    failure = opened.failure ?? (yield* remainingEvents(forwarded, last, signal))
    if (failure === null) await within(END_WITHIN_MS, upstreamAnswer.ended)
  } finally {
    opened.reader.close()
    // Undefined if the reader of these events left before their end.
    if (failure === undefined) failure = toFailure(undefined, signal) ?? clientGone
    isOver = true
    clearTimeout(readTimer)
    const contentAt = answer.contentAt()
    const { body, metered } = endOf(answer)
    await call.finish({
      output: body,
      metered,
      failure,
      summary: {
        ...servedBy(forwarded, completion),
        ...(contentAt && { time_to_first_token_ms: Math.round(contentAt - call.startedAt) }),
      },
    })
    if (failure === null && body !== null) {
      const cost = costText(target.model.price, metered.usage)
      keepAnswer(gateway, completion, { body, text: undefined, metered, cost })
    }
    answer.release()
    inFlight.done()
  }
  if (failure !== null) throw failure
  const end = last.text + answer.end
  if (end !== '') yield end
}

/** Whatever an upstream sends, its call ends. */
const endOf = (answer: Answer): { readonly body: JsonObject | null; readonly metered: Metered } => {
  try {
    return { body: answer.folded(), metered: answer.metered() }
  } catch {
    return { body: null, metered: unknown }
  }
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

/** Whether the last events were the end of the answer, which nothing follows. */
const isEnd = (answer: Answer): boolean => answer.end === '' && answer.isDone()

/** Returns the failure that ended the stream early, or null for a complete answer. */
async function* remainingEvents(
  { opened: { answer, reader }, reportedFailure }: Forwarded<OpenedStream>,
  last: { text: string },
  signal: AbortSignal,
): AsyncGenerator<string, Failure | null> {
  const { patience } = reader
  try {
    const next = nextEvents(answer, reader)
    for (let events = await next(); events !== undefined; events = await next()) {
      const parts = answer.parts()
      const { text, failure } = await takeEvents(answer, events, { reportedFailure })
      patience.pause()
      if (isEnd(answer)) last.text += text
      else if (text !== '') yield text
      patience.resume(answer.parts() > parts)
      if (failure !== undefined) return failure
    }
    return failureOfEnd(answer, { reportedFailure })
  } catch (error) {
    const failure = toFailure(error, signal)
    if (failure === undefined) throw error
    if (signal.aborted) return failure
    return answer.isComplete() ? null : (suspectedFailure(answer, { reportedFailure }) ?? failure)
  }
}

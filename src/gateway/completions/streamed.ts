import { within } from '../../kernel/within.js'
import type { EventSourceMessage } from 'eventsource-parser'
import type { CompletionStream } from '../answer/stream.js'
import { choicesIn, chunkOfWhole } from '../answer/whole-answer.js'
import { Failure } from '../../application/failure.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { UpstreamAnswer } from '../../domain/gateway/upstreams/upstream-client.js'
import type { Answering } from './asking.js'
import { eventReader, parsed, requireUncompressed, type EventReader } from './read-answer.js'
import { clientGone } from './under-way.js'
import { badAnswer, failureIn } from './upstream-failure.js'

const DONE = '[DONE]'

/** How a stream ended: with the failure that ended it early, or null for a complete answer. */
export type OnEnd = (failure: Failure | null) => Promise<void>

/** A stream of which the first event for the client was read. */
export interface OpenedStream {
  readonly stream: CompletionStream
  readonly first: string
  readonly reader: EventReader
  readonly errorIn: Answering['errorIn']
}

/**
 * Reads an upstream's stream up to the first part of a completion, so that another upstream may be asked if there is none.
 *
 * @throws Failure or UpstreamFault
 */
export const openStream = async (
  { answer, errorIn }: Answering,
  stream: CompletionStream,
): Promise<OpenedStream> => {
  requireUncompressed(answer)
  const reader = eventReader(answer.body)
  let first = ''
  try {
    for (let events = await reader.next(); events !== undefined; events = await reader.next()) {
      const { text, failure, isDone } = taken(stream, events, errorIn)
      first += text
      if (stream.hasBegun && first !== '')
        return { stream, first, reader: ended(reader, failure, isDone), errorIn }
      if (failure !== undefined) throw failure
      if (isDone) break
    }
    return { stream, first: ofWhole(reader.textWithoutEvents(), stream, errorIn), reader, errorIn }
  } catch (error) {
    reader.close()
    throw error
  }
}

/** Some upstreams answer in one piece although a stream was requested, also with an error. */
const ofWhole = (text: string, stream: CompletionStream, errorIn: Answering['errorIn']): string => {
  const whole = text.trim() === '' ? undefined : parsed(text)
  if (isJsonObject(whole) && choicesIn(whole) !== undefined) {
    const result = stream.take(chunkOfWhole(whole))
    stream.done()
    if ('chunk' in result && result.chunk !== null) return eventOf(jsonText(result.chunk))
  }
  if (whole !== undefined) {
    const result = stream.take(whole)
    if ('error' in result) throw errorIn(result.error)
  }
  throw badAnswer('the stream has no completion')
}

/** The failure or the end that came with the first event is told after it. */
const ended = (reader: EventReader, failure: Failure | undefined, isDone: boolean): EventReader => {
  if (failure === undefined && !isDone) return reader
  return { ...reader, next: () => (failure === undefined ? reader.next() : Promise.reject(failure)) }
}

/**
 * An upstream's stream as the client gets it. `onEnd` runs once, before the last event leaves: whoever has seen a complete
 * answer can rely on its being recorded.
 *
 * @throws Failure for a stream that is not complete
 */
export async function* streamed(
  opened: OpenedStream,
  answer: Pick<UpstreamAnswer, 'ended'>,
  signal: AbortSignal,
  onEnd: OnEnd,
): AsyncGenerator<string> {
  let failure: Failure | null | undefined
  try {
    yield opened.first
    failure = yield* passedOn(opened, signal)
    if (failure === null) await within(END_WITHIN_MS, answer.ended)
  } finally {
    opened.reader.close()
    // Left in the middle by its reader, unless it was ended before.
    if (failure === undefined) failure = failureIn(undefined, signal) ?? clientGone
    await onEnd(failure)
  }
  if (failure !== null) throw failure
  yield `data: ${DONE}\n\n`
}

/** After [DONE] usage may follow; and the upstream closes the connection, which is lost if it is left before that. */
const END_WITHIN_MS = 50

async function* passedOn(
  { stream, reader, errorIn }: OpenedStream,
  signal: AbortSignal,
): AsyncGenerator<string, Failure | null> {
  let until: number | undefined
  try {
    for (;;) {
      if (stream.hasEnded) until ??= performance.now() + END_WITHIN_MS
      const events = await (until === undefined
        ? reader.next()
        : within(Math.max(0, until - performance.now()), reader.next()))
      if (events === undefined) break
      const { text, failure } = taken(stream, events, errorIn)
      if (text !== '') yield text
      if (failure !== undefined) return failure
    }
    return stream.isComplete ? null : badAnswer('the stream ended without a finish_reason')
  } catch (error) {
    const failure = failureIn(error, signal)
    if (failure === undefined) throw error
    return stream.isComplete && !signal.aborted ? null : failure
  }
}

interface Passed {
  readonly text: string
  readonly failure?: Failure
  readonly isDone: boolean
}

const taken = (
  stream: CompletionStream,
  events: readonly EventSourceMessage[],
  errorIn: Answering['errorIn'],
): Passed => {
  let text = ''
  let isDone = false
  for (const { event, data } of events) {
    if (data.trim() === DONE) {
      stream.done()
      isDone = true
      continue
    }
    const chunk = parsed(data)
    if (event === 'error') return { text, failure: errorIn(chunk ?? data), isDone }
    if (chunk === undefined) {
      // What is no JSON is no chunk, but one that is cut off is.
      if (!data.trimStart().startsWith('{')) continue
      return { text, failure: badAnswer('a chunk is not JSON, or is nested too deeply'), isDone }
    }
    const result = stream.take(chunk)
    if ('error' in result) return { text, failure: errorIn(result.error), isDone }
    if (result.chunk !== null) text += eventOf(jsonText(result.chunk))
  }
  return { text, isDone }
}

const eventOf = (data: string): string => `data: ${data}\n\n`

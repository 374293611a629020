import type { MemoryLease } from '../../kernel/memory-account.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonTextInSteps } from '../../kernel/json/text-in-steps.js'
import { UpstreamFault } from '../../domain/gateway/upstreams/upstream-client.js'
import { answerRoom, MEMORY_PER_CHARACTER } from '../answer/answer-room.js'
import { AnswerFold } from '../answer/fold.js'
import { reportsError } from '../answer/reported-error.js'
import { CompletionStream } from '../answer/stream.js'
import type { Metered } from '../answer/usage.js'
import { meteredWhole, wholeAnswer } from '../answer/whole-answer.js'
import type { CompletionContext } from './completion-context.js'
import type { UpstreamResponse } from './forward.js'
import { answerTooLarge, MAX_BYTES } from './read-answer.js'
import { eventReader, type EventReader } from './read-events.js'
import { failureOfEnd, nextEvents, takeEvents, takeValue, valueWithoutEvents } from './take-events.js'
import { invalidUpstreamResponse, memoryUsedUp } from './upstream-failure.js'

/** A whole answer for the client. */
export interface OpenedWhole {
  readonly body: JsonObject
  readonly text: string
  readonly metered: Metered
}

/**
 * Reads a whole answer, or puts it together where the upstream streams although no stream was requested.
 *
 * @throws Failure or UpstreamFault
 */
export const openWhole = async (
  { request: { n }, expected, memory }: Pick<CompletionContext, 'request' | 'expected' | 'memory'>,
  response: UpstreamResponse,
): Promise<OpenedWhole> => {
  const { answer, target } = response
  const publicModel = target.model.id
  const fold = new AnswerFold(publicModel, answerRoom(memory, MAX_BYTES))
  const asked = { publicModel, n, includeUsage: true, hidesRunningUsage: false, expected }
  const stream = new CompletionStream(asked, fold)
  const reader = eventReader(answer, target.upstream.content.timeouts, memory)
  try {
    const value = await readValueOrEvents(stream, reader, response)
    const body = value === undefined ? undefined : wholeAnswer(value, publicModel)
    if (body !== undefined) return { ...(await written(body, memory)), metered: meteredWhole(body, expected) }
    if (value !== undefined) await takeValue(stream, value, response)
    if (value !== undefined && !stream.isAnswered)
      throw invalidUpstreamResponse(stream.hasBegun ? 'its choices have no message' : 'it has no choices')
    const failure = failureOfEnd(stream, response)
    if (failure !== null) throw failure
    const folded = fold.whole()!
    if (folded['tallytree_truncated'] === true) throw answerTooLarge
    return { ...(await written(folded, memory)), metered: stream.metered }
  } finally {
    reader.close()
  }
}

/** The answer and its text, which stay in memory until the client has read it. */
const written = async (
  body: JsonObject,
  memory: MemoryLease,
): Promise<Pick<OpenedWhole, 'body' | 'text'>> => {
  const text = await jsonTextInSteps(body)
  if (!memory.grow(text.length * MEMORY_PER_CHARACTER)) throw memoryUsedUp
  return { body, text }
}

/** The JSON of the response; undefined if the stream has taken events in place of it. */
const readValueOrEvents = async (
  stream: CompletionStream,
  reader: EventReader,
  response: UpstreamResponse,
): Promise<Json | undefined> => {
  const next = nextEvents(stream, reader)
  let hasEvents = false
  try {
    for (let events = await next(); events !== undefined; events = await next()) {
      const value = hasEvents ? undefined : events[0]?.value
      if (isJsonObject(value) && reportsError(value) !== 'yes' && wholeAnswer(value, '') !== undefined)
        return value
      hasEvents ||= events.length > 0
      const { parts } = stream
      const { failure } = await takeEvents(stream, events, response)
      if (failure !== undefined) throw failure
      if (stream.parts > parts) reader.patience.renew()
    }
  } catch (error) {
    if (!(error instanceof UpstreamFault && stream.isComplete)) throw error
  }
  return hasEvents ? undefined : valueWithoutEvents(reader, response)
}

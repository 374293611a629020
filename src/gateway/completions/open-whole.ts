import type { MemoryLease } from '../../kernel/memory-account.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonTextInSteps } from '../../kernel/json/text-in-steps.js'
import { UpstreamFault } from '../../domain/gateway/upstreams/upstream-client.js'
import { answerRoom, MEMORY_PER_CHARACTER } from '../answer/answer-room.js'
import type { Metered } from '../answer/usage.js'
import type { Answer, WholeAnswer } from '../endpoints/endpoint.js'
import type { CompletionContext } from './completion-context.js'
import type { UpstreamResponse } from './forward.js'
import { answerTooLarge, MAX_BYTES } from './read-answer.js'
import type { EventReader } from './read-events.js'
import { readerOf } from './serving.js'
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
  { request, expected, memory, serving }: CompletionContext,
  response: UpstreamResponse,
): Promise<OpenedWhole> => {
  const publicModel = response.target.model.id
  const room = answerRoom(memory, MAX_BYTES)
  const options = { given: request.given, publicModel, expected, room, hidesRunningUsage: false }
  const answer = request.endpoint.answer(options)
  const reader = readerOf(serving, response, memory)
  try {
    const read = await readWholeOrEvents(answer, reader, response)
    if (read?.whole !== undefined) return await written(read.whole, memory)
    if (read !== undefined) {
      await takeValue(answer, read.value, response)
      if (!answer.isAnswered()) throw invalidUpstreamResponse(answer.missing())
    }
    const failure = failureOfEnd(answer, response)
    if (failure !== null) throw failure
    const body = answer.folded()!
    if (body['tallytree_truncated'] === true) throw answerTooLarge
    return await written({ body, metered: answer.metered() }, memory)
  } finally {
    reader.close()
  }
}

/** The answer and its text, which stay in memory until the client has read it. */
const written = async (whole: WholeAnswer, memory: MemoryLease): Promise<OpenedWhole> => {
  const { body, metered } = whole
  const text = whole.text ?? (await jsonTextInSteps(body))
  if (!memory.grow(text.length * MEMORY_PER_CHARACTER)) throw memoryUsedUp
  return { body, text, metered }
}

type Read = { readonly whole: WholeAnswer } | { readonly whole?: undefined; readonly value: Json }

/** The whole answer, or other JSON; undefined if events were taken in place of it. */
const readWholeOrEvents = async (
  answer: Answer,
  reader: EventReader,
  response: UpstreamResponse,
): Promise<Read | undefined> => {
  const next = nextEvents(answer, reader)
  let hasEvents = false
  try {
    for (let events = await next(); events !== undefined; events = await next()) {
      const [first] = hasEvents ? [] : events
      const whole = isJsonObject(first?.value) ? answer.whole(first.value, first.data) : undefined
      if (whole !== undefined) return { whole }
      hasEvents ||= events.length > 0
      const parts = answer.parts()
      const { failure } = await takeEvents(answer, events, response)
      if (failure !== undefined) throw failure
      if (answer.parts() > parts) reader.patience.renew()
    }
  } catch (error) {
    if (!(error instanceof UpstreamFault && answer.isComplete())) throw error
  }
  if (hasEvents) return undefined
  const read = await reader.withoutEvents()
  const whole = read.value === undefined ? undefined : answer.whole(read.value, read.text)
  return whole === undefined ? { value: valueWithoutEvents(answer, read, response) } : { whole }
}

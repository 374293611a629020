import { FAILED_EVENT } from '../answer/reported-error.js'
import type { CompletionStream } from '../answer/stream.js'
import { reportInText, reportsError } from '../answer/reported-error.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { jsonTextInSteps } from '../../kernel/json/text-in-steps.js'
import { within } from '../../kernel/within.js'
import type { Failure } from '../../application/failure.js'
import type { UpstreamResponse } from './forward.js'
import { NOT_JSON, parsed } from './read-answer.js'
import type { EventReader, UpstreamEvent } from './read-events.js'
import { invalidUpstreamResponse } from './upstream-failure.js'

/** After [DONE], wait this long for usage, and for the upstream to close, so that the connection can be reused. */
export const END_WITHIN_MS = 50

const DONE = /^"?\[DONE\]"?$/i

type Reporting = Pick<UpstreamResponse, 'reportedFailure'>

/** Reads the next events, for a short time after [DONE] too. */
export const nextEvents = (stream: CompletionStream, reader: EventReader) => {
  let until: number | undefined
  return async (): Promise<readonly UpstreamEvent[] | undefined> => {
    if (!stream.isDone) return reader.next()
    until ??= performance.now() + END_WITHIN_MS
    return within(Math.max(0, until - performance.now()), reader.next())
  }
}

interface TakenEvents {
  /** What the client gets of them. */
  readonly text: string
  readonly failure?: Failure
}

export const takeEvents = async (
  stream: CompletionStream,
  events: readonly UpstreamEvent[],
  { reportedFailure }: Reporting,
): Promise<TakenEvents> => {
  let text = ''
  for (const { event, data, value } of events) {
    if (DONE.test(data.trim())) {
      stream.done()
      continue
    }
    const chunk = value ?? (await parsed(data))
    if (event !== undefined && FAILED_EVENT.test(event) && !stream.isDone)
      return { text, failure: reportedFailure(chunk ?? data) }
    if (chunk === undefined) {
      // Text that is not JSON, such as `ping`, is skipped. A truncated chunk is an error.
      if (stream.isDone || !data.trimStart().startsWith('{')) stream.takeText(data)
      else
        return {
          text,
          failure: invalidUpstreamResponse(
            'a chunk is not JSON, is nested too deeply, or has too many values',
          ),
        }
      continue
    }
    const result = stream.take(chunk)
    if ('error' in result) return { text, failure: reportedFailure(result.error) }
    if (result.chunk !== null) text += await eventOf(result.chunk, data.length)
  }
  return { text }
}

/** In characters. Shorter chunks are written at once. */
const LONG_CHUNK = 65_536

const eventOf = async (chunk: Json, length: number): Promise<string> =>
  `data: ${length > LONG_CHUNK ? await jsonTextInSteps(chunk) : jsonText(chunk)}\n\n`

/**
 * The JSON of a response without events.
 *
 * @throws Failure for an error, and for what is no JSON
 */
export const valueWithoutEvents = async (
  reader: EventReader,
  { reportedFailure }: Reporting,
): Promise<Json> => {
  const text = reader.textWithoutEvents()
  const value = await parsed(text)
  if (value !== undefined) {
    if (typeof value === 'string' || reportsError(value) !== 'no') throw reportedFailure(value)
    return value
  }
  // Of JSON that is cut or wrong nothing is quoted: it may be an answer.
  const report = /^\s*[{[]/.test(text) ? undefined : reportInText(text)
  throw report === undefined ? invalidUpstreamResponse(NOT_JSON) : reportedFailure(report)
}

/** Takes an answer in one piece, or a list of chunks, although a stream was requested. Returns what the client gets. */
export const takeValue = async (
  stream: CompletionStream,
  value: Json,
  { reportedFailure }: Reporting,
): Promise<string> => {
  let text = ''
  for (const chunk of Array.isArray(value) ? (value as readonly Json[]) : [value]) {
    const result = stream.take(chunk)
    if ('error' in result) throw reportedFailure(result.error)
    if (result.chunk !== null) text += await eventOf(result.chunk, Infinity)
  }
  if (isJsonObject(value) || Array.isArray(value)) stream.done()
  return text
}

/** Why a stream is not complete at its end; null if it is. */
export const failureOfEnd = (stream: CompletionStream, reporting: Reporting): Failure | null => {
  if (stream.isComplete) return null
  return (
    suspectedFailure(stream, reporting) ??
    invalidUpstreamResponse(
      stream.isAnswered ? 'the stream ended without a finish_reason' : 'the stream has no completion',
    )
  )
}

/** The error that may have cut a stream that is not complete. */
export const suspectedFailure = (
  stream: CompletionStream,
  { reportedFailure }: Reporting,
): Failure | undefined => (stream.suspected === undefined ? undefined : reportedFailure(stream.suspected))

import { reportInText, reportsError } from '../answer/reported-error.js'
import type { Answer, TakenPiece, UpstreamEvent } from '../endpoints/endpoint.js'
import type { Json } from '../../kernel/json/json.js'
import { within } from '../../kernel/within.js'
import type { Failure } from '../../application/failure.js'
import type { UpstreamResponse } from './forward.js'
import { NOT_JSON } from './read-answer.js'
import type { EventReader, WholeText } from './read-events.js'
import { invalidUpstreamResponse } from './upstream-failure.js'

/** After the end of an answer, wait this long for usage, and for the upstream to close, so that the connection can be reused. */
export const END_WITHIN_MS = 50

type Reporting = Pick<UpstreamResponse, 'reportedFailure'>

/** Reads the next events, for a short time after the end of the answer too. */
export const nextEvents = (answer: Answer, reader: EventReader) => {
  let until: number | undefined
  return async (): Promise<readonly UpstreamEvent[] | undefined> => {
    if (!answer.isDone()) return reader.next()
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
  answer: Answer,
  events: readonly UpstreamEvent[],
  reporting: Reporting,
): Promise<TakenEvents> => {
  let text = ''
  for (const event of events) {
    const taken = await answer.take(event)
    const failure = failureIn(taken, reporting)
    if (failure !== undefined) return { text, failure }
    text += taken.text
  }
  return { text }
}

const failureIn = ({ error, invalid }: TakenPiece, { reportedFailure }: Reporting): Failure | undefined => {
  if (error !== undefined) return reportedFailure(error)
  return invalid === undefined ? undefined : invalidUpstreamResponse(invalid)
}

/**
 * The JSON of a response without events.
 *
 * @throws Failure for an error, and for what is no JSON
 */
export const valueWithoutEvents = (
  answer: Answer,
  { text, value }: WholeText,
  { reportedFailure }: Reporting,
): Json => {
  if (value !== undefined) {
    if (answer.whole(value, text) !== undefined) return value
    if (typeof value === 'string' || reportsError(value) !== 'no') throw reportedFailure(value)
    return value
  }
  // Of JSON that is cut or wrong nothing is quoted: it may be an answer.
  const report = /^\s*[{[]/.test(text) ? undefined : reportInText(text)
  throw report === undefined ? invalidUpstreamResponse(NOT_JSON) : reportedFailure(report)
}

/** Takes an answer in one piece, or a list of chunks, although a stream was requested. Returns what the client gets. */
export const takeValue = async (answer: Answer, value: Json, reporting: Reporting): Promise<string> => {
  const taken = await answer.takeWhole(value)
  const failure = failureIn(taken, reporting)
  if (failure !== undefined) throw failure
  return taken.text
}

/** Why a stream is not complete at its end; null if it is. */
export const failureOfEnd = (answer: Answer, reporting: Reporting): Failure | null =>
  answer.isComplete()
    ? null
    : (suspectedFailure(answer, reporting) ?? invalidUpstreamResponse(answer.incomplete()))

/** The error that may have cut a stream that is not complete. */
export const suspectedFailure = (answer: Answer, { reportedFailure }: Reporting): Failure | undefined => {
  const suspected = answer.suspected()
  return suspected === undefined ? undefined : reportedFailure(suspected)
}

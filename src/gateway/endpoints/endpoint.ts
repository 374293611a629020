import type { Api } from '../../domain/gateway/upstreams/apis.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import type { Failure } from '../../application/failure.js'
import type { AnswerRoom } from '../answer/answer-room.js'
import type { RequestText } from '../answer/request-text.js'
import type { ExpectedUsage, Metered } from '../answer/usage.js'

/** How the gateway serves one API of model providers. Everything that it does not read passes through. */
export interface Endpoint {
  readonly api: Api
  /** The op name of its calls. */
  readonly opName: string
  /** Below the base URL of an upstream. */
  readonly path: string
  /** The form of errors. */
  readonly form: 'openai' | 'anthropic'
  /** Whether `stream_options` request the usage of a stream. */
  readonly asksForUsage: boolean
  /** How long the head of a stream waits for content, in milliseconds: an upstream that fails before is replaced by the next. */
  readonly holdsHeadMs: number
  /** Upper bound of the answer, in tokens. */
  readonly mostTokens: (given: JsonObject) => number
  /** Upper bound of its searches, where they are its price. */
  readonly mostSearches?: (given: JsonObject, promptTokens: number) => number
  /** What differs from the request in the body for an upstream, as JSON; undefined leaves a member out. */
  readonly changes: (given: JsonObject, options: BodyOptions) => Readonly<Record<string, string | undefined>>
  readonly answer: (options: AnswerOptions) => Answer
  /** The last events of a stream that failed before an upstream answered. */
  readonly failed: (failure: Failure, options: FailedOptions) => string
}

/** A request to an endpoint. */
export interface EndpointRequest {
  readonly endpoint: Endpoint
  /** As received. */
  readonly given: JsonObject
  readonly model: string
  readonly stream: boolean
}

export interface BodyOptions {
  readonly stream: boolean
  /** Whether to request usage with `stream_options`. */
  readonly requestsUsage: boolean
  readonly continuousUsage: boolean
  /** Whether the content of the call is recorded. */
  readonly recordsContent: boolean
}

export interface FailedOptions {
  readonly callId: string
  readonly requestId: string
  readonly model: string
}

export interface AnswerOptions {
  readonly given: JsonObject
  readonly publicModel: string
  readonly expected: ExpectedUsage
  /** For the record of a stream; null if it is not recorded. */
  readonly room: AnswerRoom | null
  /** Whether only the gateway requested usage in each chunk. */
  readonly hidesRunningUsage: boolean
}

/** An event of an upstream's answer, with its value if it was a line of JSON. */
export interface UpstreamEvent {
  readonly event?: string | undefined
  readonly data: string
  readonly value?: Json
}

/** What the client gets of a piece of an answer, and the error that the piece reports. */
export interface TakenPiece {
  readonly text: string
  readonly error?: Json
  /** Why it is no answer of this API. */
  readonly invalid?: string
}

/** An answer that is whole for the client. */
export interface WholeAnswer {
  /** As recorded. */
  readonly body: JsonObject
  /** Undefined where it is the JSON of the body. */
  readonly text?: string
  readonly metered: Metered
}

/** One answer of an upstream, whole or in events: passes it on under the public name of the model, meters and records it. */
export interface Answer {
  readonly take: (event: UpstreamEvent) => Promise<TakenPiece>
  /** A whole answer although a stream was requested. */
  readonly takeWhole: (value: Json) => Promise<TakenPiece>
  /** A whole answer for a client that requested one; undefined if the value has none. */
  readonly whole: (value: Json, text: string) => WholeAnswer | undefined
  /** Why a value that `takeWhole` took has no answer. */
  readonly missing: () => string
  /** Whether there is a part of an answer, maybe an empty one, and not only a head. */
  readonly isAnswered: () => boolean
  /** Nothing but usage may come. */
  readonly isDone: () => boolean
  readonly isComplete: () => boolean
  /** Counts the events with a part of the answer. */
  readonly parts: () => number
  /** When the first content arrived, by the clock of `performance`; undefined before. */
  readonly contentAt: () => number | undefined
  /** What may be an error that cut the answer; undefined if the answer went on after it. */
  readonly suspected: () => Json | undefined
  /** Why it is not complete at its end. */
  readonly incomplete: () => string
  readonly metered: () => Metered
  /** The whole answer of the events so far, for the record; null without any. */
  readonly folded: () => JsonObject | null
  readonly release: () => void
  /** What follows the last event of a complete stream. */
  readonly end: string
  /** The last events for the client if the answer fails after its first event. */
  readonly failed: (failure: Failure, options: FailedOptions) => string
}

/** The text of an event. */
export const eventText = (data: string, event?: string): string => {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${lines}\n\n`
}

/** The body for an upstream, with its name of the model. */
export const bodyFor = (
  { endpoint, given }: Pick<EndpointRequest, 'endpoint' | 'given'>,
  text: RequestText,
  upstreamModel: string,
  options: BodyOptions,
): string => text.with({ model: JSON.stringify(upstreamModel), ...endpoint.changes(given, options) })

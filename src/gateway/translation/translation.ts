import type { JsonObject } from '../../kernel/json/json.js'

/** An event of the API that the client speaks: its name, and its data as JSON. */
export interface TranslatedEvent {
  readonly event: string
  readonly value: JsonObject
}

export const translatedEvent = (type: string, members: JsonObject): TranslatedEvent => ({
  event: type,
  value: { type, ...members },
})

/** Serves one API by an upstream that speaks chat completions only. */
export interface Translation {
  /**
   * The request as a chat completion, with the client's name of the model. `dropped` names the fields that are left out, such as
   * `messages.0.content.1`, or the first of them.
   *
   * @throws Failure `invalid` that names a field which a chat completion cannot express and which changes the answer, unless
   * the operator allows to drop it
   */
  readonly request: (given: JsonObject, options: { readonly mayDrop: boolean }) => TranslatedRequest
  readonly answer: (options: AnswerOptions) => AnswerTranslator
}

export interface TranslatedRequest {
  readonly given: JsonObject
  readonly dropped: readonly string[]
}

export interface AnswerOptions {
  /** The request of the client. */
  readonly given: JsonObject
  /** The id of the call, for ids of the answer. */
  readonly id: string
  /** Seconds since 1970. */
  readonly createdAt: number
}

/** Translates one answer, which is whole or a stream. */
export interface AnswerTranslator {
  /** The events for a chunk of a chat completion, maybe none. */
  readonly chunk: (chunk: JsonObject) => readonly TranslatedEvent[]
  /** The events at the end of a complete stream. A stream that the upstream ended without a finish reason may be complete. */
  readonly end: () => readonly TranslatedEvent[]
  readonly whole: (completion: JsonObject) => JsonObject
  /** Upper bound of the characters of the stream that are in memory. */
  readonly held: () => number
}

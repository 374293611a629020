import type { JsonObject } from '../../kernel/json/json.js'

/** An event of the API that the client speaks: its name, and its data as JSON. */
export interface TranslatedEvent {
  readonly event: string
  readonly value: JsonObject
}

/** Serves one API by an upstream that speaks chat completions only. */
export interface Translation {
  /**
   * The request as a chat completion, with the client's name of the model. `dropped` names the fields that are left out, such as
   * `messages.0.content.1`.
   *
   * @throws Failure `invalid` that names a field which a chat completion cannot express and which changes the answer, unless
   * the operator allows to drop it
   */
  readonly request: (
    given: JsonObject,
    options: { readonly mayDrop: boolean },
  ) => { readonly given: JsonObject; readonly dropped: readonly string[] }
  readonly answer: (options: {
    /** The request of the client. */
    readonly given: JsonObject
    /** The id of the call, for ids of the answer. */
    readonly id: string
    /** Seconds since 1970. */
    readonly createdAt: number
  }) => AnswerTranslator
}

/** Translates one answer, which is whole or a stream. */
export interface AnswerTranslator {
  /** The events for a chunk of a chat completion, maybe none. */
  readonly chunk: (chunk: JsonObject) => readonly TranslatedEvent[]
  /** The events at the end of the stream; without a finish reason before, none that says that the answer is complete. */
  readonly end: () => readonly TranslatedEvent[]
  readonly whole: (completion: JsonObject) => JsonObject
}

import type {
  AnswerOptions,
  TranslatedEvent,
  Translation,
} from '../../../../src/gateway/translation/translation.js'
import { Failure } from '../../../../src/application/failure.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'

export const chatRequest = (
  translation: Translation,
  given: JsonObject,
  mayDrop = false,
): { readonly given: JsonObject; readonly dropped: readonly string[] } =>
  translation.request(given, { mayDrop })

/** The place that a refusal names, such as `tools.1`; undefined if the request is translated. */
export const refusedPlace = (translation: Translation, given: JsonObject): string | undefined => {
  try {
    chatRequest(translation, given)
  } catch (error) {
    if (error instanceof Failure && error.kind === 'invalid')
      return error.details.problems?.[0]?.loc.slice(1).join('.')
    throw error
  }
  return undefined
}

const options = (given: JsonObject): AnswerOptions => ({ given, id: 'abc', createdAt: 1_700_000_000 })

export const eventsOf = (
  translation: Translation,
  chunks: readonly JsonObject[],
  given: JsonObject = { model: 'm' },
): readonly TranslatedEvent[] => {
  const answer = translation.answer(options(given))
  return [...chunks.flatMap((chunk) => answer.chunk(chunk)), ...answer.end()]
}

export const wholeOf = (
  translation: Translation,
  completion: JsonObject,
  given: JsonObject = { model: 'm' },
): JsonObject => translation.answer(options(given)).whole(completion)

export const chunkOf = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }],
})

export const ended = (finish_reason: string): JsonObject => chunkOf({}, { finish_reason })

export const usageChunk = (usage: JsonObject): JsonObject => ({ choices: [], usage })

export const callChunk = (index: number | string, given: string, name?: string): JsonObject =>
  chunkOf({
    tool_calls: [
      name === undefined
        ? { index, function: { arguments: given } }
        : { index, id: `call_${index}`, type: 'function', function: { name, arguments: given } },
    ],
  })

export const completionOf = (
  message: JsonObject,
  finish_reason = 'stop',
  more: JsonObject = {},
): JsonObject => ({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
  ...more,
})

import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { UsageReports, type ExpectedUsage, type Metered, writtenBytes } from './usage.js'

/** A non-streamed response with the model's public id; undefined if it has no answer. */
export const wholeAnswer = (value: Json, publicModel: string): JsonObject | undefined => {
  const choices = isJsonObject(value) ? (choicesIn(value) ?? []) : []
  const isWhole = choices.every(({ message }) => isJsonObject(message)) && choices.some(isAnswered)
  return isJsonObject(value) && isWhole ? withDigitsOf(value, { ...value, model: publicModel }) : undefined
}

/** Whether a choice is an answer: something is written, or it ended without anything. */
const isAnswered = ({ message, finish_reason }: JsonObject): boolean =>
  isJsonObject(message) && (writtenBytes(message) > 0 || endsEmpty(finish_reason, holdsText(message)))

/** Whether a part has a text, maybe an empty one. */
export const holdsText = ({ content }: JsonObject): boolean =>
  typeof content === 'string' || Array.isArray(content)

/** An empty answer has an empty text and a finish reason, or one that says why nothing is there, such as `length`. */
export const endsEmpty = (finish_reason: Json | undefined, hasText: boolean): boolean =>
  isReason(finish_reason) && (hasText || !USUAL_END.test(finish_reason))

const USUAL_END = /^(stop|end_turn|eos|complete|tool_calls?|tool_use|function_call)/i

/** The usage of a non-streamed response. */
export const meteredWhole = (answer: JsonObject, expected: ExpectedUsage): Metered => {
  const choices = choicesIn(answer) ?? []
  const reports = new UsageReports(expected)
  reports.take(answer, choices)
  const written = choices.reduce(
    (sum, { message }) => sum + (isJsonObject(message) ? writtenBytes(message) : 0),
    0,
  )
  return reports.metered(written)
}

/** Some upstreams send an empty finish reason in every chunk but the last. */
export const isReason = (finish_reason: Json | undefined): finish_reason is string =>
  typeof finish_reason === 'string' && finish_reason !== ''

/** The choices of a whole response; undefined if it has none. */
const choicesIn = ({ choices }: JsonObject): readonly JsonObject[] | undefined =>
  Array.isArray(choices) && choices.length > 0 && choices.every(isJsonObject) ? choices : undefined

/** A response with messages in place of deltas, as a chunk of a stream; other chunks as they are. */
export const asChunk = (chunk: JsonObject): JsonObject => {
  const choices = choicesIn(chunk) ?? []
  return choices.some(({ message, delta }) => isJsonObject(message) && !isJsonObject(delta))
    ? withDigitsOf(chunk, { ...chunk, object: 'chat.completion.chunk', choices: choices.map(withDelta) })
    : chunk
}

const withDelta = ({ message, ...choice }: JsonObject, index: number): JsonObject => ({
  index,
  ...choice,
  delta: isJsonObject(message) ? deltaOf(message) : {},
})

const deltaOf = (message: JsonObject): JsonObject => {
  const calls = message['tool_calls']
  if (!Array.isArray(calls)) return message
  return {
    ...message,
    tool_calls: calls.map((call: Json, index) => (isJsonObject(call) ? { index, ...call } : call)),
  }
}

import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { UsageReports, type ExpectedUsage, type Metered, writtenBytes } from './usage.js'

/** A non-streamed response with the model's public id; undefined if it is invalid. */
export const wholeAnswer = (value: Json, publicModel: string): JsonObject | undefined =>
  isJsonObject(value) && choicesIn(value) !== undefined
    ? withDigitsOf(value, { ...value, model: publicModel })
    : undefined

/** Whether a response or chunk reports an error, in the form of OpenAI, vLLM, FastAPI or others. */
export const isUpstreamError = (value: Json): boolean => {
  if (Array.isArray(value)) return value.length > 0 && value.every(isUpstreamError)
  if (!isJsonObject(value)) return false
  const { error, object, type, choices, detail, message, code, status } = value
  if (error !== undefined && error !== null && error !== false) return true
  if (object === 'error' || type === 'error') return true
  if (choices !== undefined) return false
  return isPresent(detail) || (isPresent(message) && (isPresent(code) || isPresent(status)))
}

const isPresent = (value: Json | undefined): boolean => value !== undefined && value !== null

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
export const choicesIn = ({ choices }: JsonObject): readonly JsonObject[] | undefined =>
  Array.isArray(choices) && choices.length > 0 && choices.every(isJsonObject) ? choices : undefined

/** A whole response as the one chunk of a stream. */
export const chunkOfWhole = (answer: JsonObject): JsonObject => ({
  ...answer,
  object: 'chat.completion.chunk',
  choices: (choicesIn(answer) ?? []).map(({ message, ...choice }, index) => ({
    index,
    ...choice,
    delta: isJsonObject(message) ? deltaOf(message) : {},
  })),
})

const deltaOf = (message: JsonObject): JsonObject => {
  const calls = message['tool_calls']
  if (!Array.isArray(calls)) return message
  return {
    ...message,
    tool_calls: calls.map((call: Json, index) => (isJsonObject(call) ? { index, ...call } : call)),
  }
}

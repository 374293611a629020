import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { estimated, isCredible, reportedIn, type Metered } from './usage.js'
import { writtenBytes } from './written-bytes.js'

/** A non-streamed response with the model's public id; undefined if it is invalid. */
export const wholeAnswer = (value: Json, publicModel: string): JsonObject | undefined =>
  isJsonObject(value) && choicesIn(value) !== undefined
    ? withDigitsOf(value, { ...value, model: publicModel })
    : undefined

/** Whether a response or chunk reports an error, in OpenAI's or vLLM's format. */
export const isUpstreamError = (value: Json): boolean =>
  isJsonObject(value) &&
  ((value['error'] !== undefined && value['error'] !== null) || value['object'] === 'error')

/** The usage of a non-streamed response. */
export const meteredWhole = (answer: JsonObject, promptTokens: number): Metered => {
  const usage = reportedIn(answer['usage'])
  const written = (choicesIn(answer) ?? []).reduce(
    (sum, { message }) => sum + (isJsonObject(message) ? writtenBytes(message) : 0),
    0,
  )
  return usage !== null && isCredible(usage, written)
    ? { metering: 'reported', usage }
    : estimated(promptTokens, written, usage)
}

/** Some upstreams send an empty finish reason in every chunk but the last. */
export const isReason = (finish_reason: Json | undefined): finish_reason is string =>
  typeof finish_reason === 'string' && finish_reason !== ''

/** The choices of a response or chunk; undefined if invalid. */
export const choicesIn = ({ choices }: JsonObject): readonly JsonObject[] | undefined =>
  Array.isArray(choices) && choices.every(isJsonObject) ? choices : undefined

import { withDigitsOf } from '../json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import { estimated, reportedIn, type Metered } from './usage.js'
import { writtenBytes } from './written-bytes.js'

/** A whole answer with the public id of the model in place of the upstream's; undefined for anything that is none. */
export const wholeAnswer = (value: Json, publicModel: string): JsonObject | undefined =>
  isJsonObject(value) && choicesIn(value) !== undefined
    ? withDigitsOf(value, { ...value, model: publicModel })
    : undefined

/** Whether an answer or a chunk reports an error, in OpenAI's form or in vLLM's. */
export const isUpstreamError = (value: Json): boolean =>
  isJsonObject(value) &&
  ((value['error'] !== undefined && value['error'] !== null) || value['object'] === 'error')

/** What a whole answer used. */
export const meteredWhole = (answer: JsonObject, promptTokens: number): Metered => {
  const usage = reportedIn(answer['usage'])
  if (usage !== null) return { metering: 'reported', usage }
  const written = (choicesIn(answer) ?? []).map(({ message }) =>
    isJsonObject(message) ? writtenBytes(message) : 0,
  )
  return estimated(
    promptTokens,
    written.reduce((sum, bytes) => sum + bytes, 0),
  )
}

/** Whether it says why a choice has ended: some upstreams have an empty text in every chunk before. */
export const isReason = (finish_reason: Json | undefined): finish_reason is string =>
  typeof finish_reason === 'string' && finish_reason !== ''

/** The choices of an answer or a chunk; undefined where they are none. */
export const choicesIn = ({ choices }: JsonObject): readonly JsonObject[] | undefined =>
  Array.isArray(choices) && choices.every(isJsonObject) ? choices : undefined

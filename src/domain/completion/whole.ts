import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import { estimated, reportedIn, type Metered } from './usage.js'

/** A whole answer with the public id of the model in place of the upstream's; undefined for anything that is none. */
export const wholeAnswer = (value: Json, publicModel: string): JsonObject | undefined =>
  isJsonObject(value) && Array.isArray(value['choices']) ? { ...value, model: publicModel } : undefined

/** What a whole answer used. */
export const meteredWhole = (answer: JsonObject, promptBytes: number, answerBytes: number): Metered => {
  const usage = reportedIn(answer['usage'])
  return usage === null ? estimated(promptBytes, answerBytes) : { metering: 'reported', usage }
}

import { withDigitsOf } from '../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../kernel/json/json.js'

/** The members that an erasure replaces in the data of an event. */
export type ErasureRule = (data: JsonObject) => JsonObject

/** By event type. */
export type ErasureRules = Readonly<Record<string, ErasureRule>>

/** In place of a text whose presence is a figure. */
const ERASED_TEXT = 'erased'

export const erasedText = (text: Json | undefined): Json => ((text ?? null) === null ? null : ERASED_TEXT)

/** Members that are numbers or truth values, or have some. */
export const numbersIn = (value: Json | undefined): Json | undefined => {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (!isJsonObject(value)) return undefined
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const left = numbersIn(member)
    return left === undefined ? [] : [[name, left] as const]
  })
  return kept.length === 0 ? undefined : withDigitsOf(value, Object.fromEntries(kept))
}

import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { withDigitsOf } from '../../kernel/json/digits.js'

/** Scores of scorers and people. Other payloads are notes and reactions, which are content as a whole. */
const WITH_SCORES = /^wandb\.(?:runnable|annotation)\./

/**
 * What an erasure leaves of feedback: who gave it, when, on what and of which type, and the numbers of scores. Undefined for events
 * without content.
 */
export const erasedFeedbackData = (type: string, data: JsonObject): JsonObject | undefined => {
  if (type !== 'FeedbackGiven') return undefined
  const hasScores = typeof data['feedback_type'] === 'string' && WITH_SCORES.test(data['feedback_type'])
  const payload = hasScores ? numbersIn(data['payload']) : undefined
  return withDigitsOf(data, {
    ...data,
    ...(data['payload'] == null ? {} : { payload: isJsonObject(payload) ? payload : {} }),
    creator: null,
    scorer_tags: null,
    scorer_tag_reasons: null,
    scorer_rating_reasons: null,
    spilled: {},
    erased: true,
  })
}

/** Members that are numbers or truth values, or have some. */
const numbersIn = (value: Json | undefined): Json | undefined => {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (!isJsonObject(value)) return undefined
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const left = numbersIn(member)
    return left === undefined ? [] : [[name, left] as const]
  })
  return kept.length === 0 ? undefined : withDigitsOf(value, Object.fromEntries(kept))
}

import { numbersIn } from '../erased-content.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'

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

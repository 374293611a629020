import { erasedText, numbersIn, type ErasureRule, type ErasureRules } from '../erased-content.js'
import { isJsonObject } from '../../kernel/json/json.js'

/** A query on calls may quote content. */
const withoutQuery: ErasureRule = ({ filter }) => ({
  filter: isJsonObject(filter) ? { ...filter, query: null } : {},
})

export const evaluationErasures: ErasureRules = {
  EvaluationRunFinished: ({ summary, error }) => ({
    summary: numbersIn(summary) ?? {},
    error: erasedText(error),
    warnings: [],
  }),
  EvaluationRuleCreated: withoutQuery,
  EvaluationRuleChanged: withoutQuery,
}

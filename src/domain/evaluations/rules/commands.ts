import type { RuleContent } from './events.js'

interface OfRule {
  readonly project_id: string
  readonly id: string
}

export interface CreateEvaluationRule extends OfRule {
  readonly type: 'CreateEvaluationRule'
  readonly rule: RuleContent
}

export interface ChangeEvaluationRule extends OfRule {
  readonly type: 'ChangeEvaluationRule'
  /** Absent fields keep their values. */
  readonly change: Partial<RuleContent>
}

export interface DeleteEvaluationRule extends OfRule {
  readonly type: 'DeleteEvaluationRule'
}

export type EvaluationRuleCommand = CreateEvaluationRule | ChangeEvaluationRule | DeleteEvaluationRule

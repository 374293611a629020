import type * as t from 'io-ts'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { boolean, jsonObject, number, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textUpToBytes } from '../../../kernel/codec/text.js'
import type { EventOf } from '../../../kernel/decider.js'
import { id, projectId } from '../../../kernel/ids.js'

export const ruleName = textUpToBytes(256)

const ruleFilter = open('EvaluationRuleFilter', {
  optional: {
    op_names: nullable(arrayOf(string)),
    trace_roots_only: withDefault(boolean, false),
    /** A query as in `/calls/query`. */
    query: nullable(jsonObject),
  },
})
export type RuleFilter = t.TypeOf<typeof ruleFilter>

const ofRule = { project_id: projectId, id }

const content = {
  name: ruleName,
  filter: ruleFilter,
  /** The fraction of the matching calls that is scored: greater than 0, at most 1. */
  sample_rate: number,
  scorer_refs: arrayOf(string),
  enabled: boolean,
  /** Who created or last changed the rule; scorers are read with their rights. */
  wb_user_id: string,
  /** Completions of the rule's judges count against the budgets of this key. */
  key_id: string,
}

const ruleCreated = open('EvaluationRuleCreated', {
  says: 'A rule was created that scores calls of a project as they end.',
  required: { ...ofRule, ...content },
})

const ruleChanged = open('EvaluationRuleChanged', {
  says: 'An evaluation rule was updated. The new content applies to calls that end later.',
  required: { ...ofRule, ...content },
})

const ruleDeleted = open('EvaluationRuleDeleted', {
  says: 'An evaluation rule was deleted permanently. The scores that it gave stay.',
  required: ofRule,
})

export const evaluationRuleEvents = {
  EvaluationRuleCreated: ruleCreated,
  EvaluationRuleChanged: ruleChanged,
  EvaluationRuleDeleted: ruleDeleted,
}

export type EvaluationRuleCreated = t.TypeOf<typeof ruleCreated>
export type RuleContent = Omit<EvaluationRuleCreated, 'project_id' | 'id'>
export type EvaluationRuleEvent = EventOf<typeof evaluationRuleEvents>

/** One stream for all rules of a project: they are few, and listed together. */
export const evaluationRulesStream = (projectId: string): string => `evaluation_rules-${projectId}`

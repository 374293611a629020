import type * as t from 'io-ts'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { boolean, jsonObject, number, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textUpToBytes } from '../../../kernel/codec/text.js'
import { type EventOf, nothing, refused, type Decider, type Decision } from '../../../kernel/decider.js'
import { id, projectId } from '../../../kernel/ids.js'
import { jsonEqual } from '../../../kernel/json/equal.js'

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

export interface EvaluationRule {
  readonly content: RuleContent
  readonly deleted: boolean
  /** The content at creation, to recognise a repeated creation. */
  readonly first: RuleContent
}

/** The rules of a project by id, in the order of their creation. */
export type EvaluationRules = Map<string, EvaluationRule>

export const MAX_RULES = 100

const evolve = (state: EvaluationRules, event: EvaluationRuleEvent): EvaluationRules => {
  switch (event.type) {
    case 'EvaluationRuleCreated': {
      const content = contentOf(event.data)
      return state.set(event.data.id, { content, deleted: false, first: content })
    }
    case 'EvaluationRuleChanged': {
      const known = state.get(event.data.id)
      return known === undefined
        ? state
        : state.set(event.data.id, { ...known, content: contentOf(event.data) })
    }
    case 'EvaluationRuleDeleted': {
      const known = state.get(event.data.id)
      return known === undefined ? state : state.set(event.data.id, { ...known, deleted: true })
    }
    default:
      // A newer release may have written an event type that this one does not know.
      return state
  }
}

const contentOf = ({
  project_id: _,
  id: __,
  ...content
}: RuleContent & { readonly project_id: string; readonly id: string }): RuleContent => content

const decide = (state: EvaluationRules, command: EvaluationRuleCommand): Decision<EvaluationRuleEvent> => {
  const { project_id, id } = command
  const known = state.get(id)
  if (command.type === 'CreateEvaluationRule') return create(state, command)
  if (known === undefined) return noSuchRule
  if (known.deleted) return command.type === 'DeleteEvaluationRule' ? nothing : noSuchRule
  switch (command.type) {
    case 'ChangeEvaluationRule': {
      const content = { ...known.content, ...command.change }
      return jsonEqual(content, known.content)
        ? nothing
        : { events: [{ type: 'EvaluationRuleChanged', data: { project_id, id, ...content } }] }
    }
    case 'DeleteEvaluationRule':
      return { events: [{ type: 'EvaluationRuleDeleted', data: { project_id, id } }] }
    default:
      return command satisfies never
  }
}

const create = (
  state: EvaluationRules,
  { project_id, id, rule }: CreateEvaluationRule,
): Decision<EvaluationRuleEvent> => {
  const known = state.get(id)
  if (known !== undefined)
    return !known.deleted && jsonEqual({ ...known.first, key_id: '' }, { ...rule, key_id: '' })
      ? nothing
      : keyReused
  return existingRules(state).length >= MAX_RULES
    ? tooMany
    : { events: [{ type: 'EvaluationRuleCreated', data: { project_id, id, ...rule } }] }
}

export const existingRules = (
  state: EvaluationRules,
): readonly { readonly id: string; readonly content: RuleContent }[] =>
  [...state].flatMap(([id, { content, deleted }]) => (deleted ? [] : [{ id, content }]))

const noSuchRule: Decision<never> = refused('not-found', 'Evaluation rule not found in this project.')

const keyReused: Decision<never> = refused(
  'conflict',
  'The Idempotency-Key was already used for another evaluation rule. Use a new key.',
)

const tooMany: Decision<never> = refused(
  'conflict',
  `A project has at most ${MAX_RULES} evaluation rules. Delete one first.`,
)

export const evaluationRuleDecider: Decider<EvaluationRules, EvaluationRuleCommand, EvaluationRuleEvent> = {
  initialState: () => new Map(),
  evolve,
  decide,
}

import { nothing, refused, type Decider, type Decision } from '../../../kernel/decider.js'
import { jsonEqual } from '../../../kernel/json/equal.js'
import type { CreateEvaluationRule, EvaluationRuleCommand } from './commands.js'
import type { EvaluationRuleEvent, RuleContent } from './events.js'

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

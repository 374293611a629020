import assert from 'node:assert/strict'
import {
  evaluationRuleDecider,
  existingRules,
  MAX_RULES,
  type EvaluationRules,
  type EvaluationRuleCommand,
  type RuleContent,
} from '../../../../../src/domain/evaluations/rules/rule.js'

const of = { project_id: 'team/p', id: 'r' }
const rule: RuleContent = {
  name: 'rule',
  sample_rate: 0.5,
  scorer_refs: ['weave:///team/p/object/s:v0'],
  enabled: true,
  filter: { op_names: null, trace_roots_only: false, query: null },
  wb_user_id: 'ada',
  key_id: 'key',
}
const create: EvaluationRuleCommand = { type: 'CreateEvaluationRule', ...of, rule }
const remove: EvaluationRuleCommand = { type: 'DeleteEvaluationRule', ...of }
const change = (some: Partial<RuleContent>): EvaluationRuleCommand => ({
  type: 'ChangeEvaluationRule',
  ...of,
  change: some,
})

const after = (...commands: readonly EvaluationRuleCommand[]): EvaluationRules =>
  commands.reduce((state, command) => {
    const { events, refused } = evaluationRuleDecider.decide(state, command)
    assert.equal(refused, undefined)
    return events.reduce(evaluationRuleDecider.evolve, state)
  }, evaluationRuleDecider.initialState())

const on = (state: EvaluationRules, command: EvaluationRuleCommand) => {
  const { events, refused } = evaluationRuleDecider.decide(state, command)
  return refused?.kind ?? events.map(({ type }) => type)
}

describe('evaluation rules', () => {
  it('are created, changed and deleted', () => {
    const changed = after(create, change({ sample_rate: 1 }))
    assert.deepEqual(existingRules(changed), [{ id: 'r', content: { ...rule, sample_rate: 1 } }])
    assert.deepEqual(existingRules(after(create, remove)), [])
  })

  it('write nothing when a command is repeated', () => {
    assert.deepEqual(on(after(create), create), [])
    assert.deepEqual(on(after(create, change({ enabled: false })), create), [])
    const withOtherKey = { ...create, rule: { ...rule, key_id: 'other' } }
    assert.deepEqual(on(after(create), withOtherKey), [])
    assert.deepEqual(on(after(create, change({ name: 'b' })), change({ name: 'b' })), [])
    assert.deepEqual(on(after(create, remove), remove), [])
  })

  it('refuse what does not fit', () => {
    const other = { ...create, rule: { ...rule, name: 'other' } }
    assert.equal(on(after(create), other), 'conflict')
    assert.equal(on(after(create, remove), create), 'conflict')
    assert.equal(on(after(create, remove), change({ name: 'b' })), 'not-found')
    assert.equal(on(after(), change({ name: 'b' })), 'not-found')
    assert.equal(on(after(), remove), 'not-found')
  })

  it('are limited in number, deleted ones not counted', () => {
    const many = Array.from({ length: MAX_RULES }, (_, at) => ({ ...create, id: `r${at}` }))
    assert.equal(on(after(...many), create), 'conflict')
    assert.deepEqual(on(after(...many, { ...remove, id: 'r0' }), create), ['EvaluationRuleCreated'])
  })
})

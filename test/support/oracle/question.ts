import fc from 'fast-check'
import type { Node } from './forest.js'
import type { Filter, Question } from './operations.js'
import { around, NOBODY, OPS, REFS } from './pools.js'

const LISTS = [
  'trace_ids',
  'call_ids',
  'parent_ids',
  'thread_ids',
  'turn_ids',
  'op_names',
  'wb_run_ids',
  'input_refs',
  'output_refs',
] as const

type List = (typeof LISTS)[number]

interface QuestionPlan {
  readonly criteria: ReadonlyArray<{ readonly list: List; readonly picks: ReadonlyArray<number> }>
  readonly rootsOnly: boolean | null
  readonly limit: number | null
}

const arbitraryCriterion = fc.record({
  list: fc.oneof(
    { weight: 4, arbitrary: fc.constant<List>('trace_ids') },
    { weight: 5, arbitrary: fc.constantFrom<List>(...LISTS) },
  ),
  picks: fc.array(fc.nat(99), { maxLength: 3 }),
})

export const arbitraryQuestion: fc.Arbitrary<QuestionPlan> = fc.record({
  criteria: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 4, arbitrary: fc.array(arbitraryCriterion, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(arbitraryCriterion, { minLength: 2, maxLength: 2 }) },
  ),
  rootsOnly: fc.oneof(
    { weight: 7, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  limit: fc.option(fc.integer({ min: 1, max: 26 }), { freq: 2 }),
})

/** The question that a plan asks about this forest; some values name what nobody sent. */
export const questionOf = (forest: ReadonlyArray<Node>, plan: QuestionPlan): Question => {
  const filter: Filter = {
    ...Object.fromEntries(
      plan.criteria.map(({ list, picks }) => [list, picks.map((pick) => valueOf(forest, list, pick))]),
    ),
    ...(plan.rootsOnly === null ? {} : { trace_roots_only: plan.rootsOnly }),
  }
  return {
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
    ...(plan.limit === null ? {} : { limit: plan.limit }),
  }
}

const valueOf = (forest: ReadonlyArray<Node>, list: List, pick: number): string => {
  const node = around(forest, pick)
  switch (list) {
    case 'trace_ids':
      return node.trace
    case 'call_ids':
      return pick > 95 ? NOBODY : node.start.id
    case 'parent_ids':
      return node.start.parent_id || node.start.id
    case 'thread_ids':
      return around(['thread-1', 'thread-2', 'thread-3'], pick)
    case 'turn_ids':
      return around(['turn-1', 'turn-2'], pick)
    case 'op_names':
      return around([...OPS, 'weave:///team/project/op/a_b:*', 'aXb'], pick)
    case 'wb_run_ids':
      return around(['run', 'team/project/run', 'other'], pick)
    case 'input_refs':
    case 'output_refs':
      return around([...REFS, 'weave:///team/project/object/o:*'], pick)
  }
}

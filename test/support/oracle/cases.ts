import fc from 'fast-check'
import { arbitraryDisturbances, type Disturbance, operationOf } from './disturbance.js'
import { type Node, writeForest } from './forest.js'
import type { Operation, Question } from './operations.js'
import { arbitraryForest, type ForestPlan } from './plan.js'
import { printCase } from './print.js'
import { PROJECT } from './given.js'
import { arbitraryQuestion, questionOf } from './question.js'

/** Everything sent to one project in order of arrival, and one question about it. */
export interface UsageCase {
  readonly operations: ReadonlyArray<Operation>
  readonly question: Question
}

/** At most 25 calls and 6 disturbances; a failing case prints as a numbered list and shrinks node by node. */
export const arbitraryUsageCase: fc.Arbitrary<UsageCase> = fc
  .tuple(arbitraryForest, arbitraryDisturbances, arbitraryQuestion)
  .map(([plan, disturbances, asked]) => {
    const forest = writeForest(plan)
    return readable({ operations: arrivals(plan, forest, disturbances), question: questionOf(forest, asked) })
  })

const readable = (usageCase: UsageCase): UsageCase =>
  Object.defineProperty(usageCase, fc.toStringMethod, {
    value: () => printCase(usageCase.operations, usageCase.question),
  })

/** The same case in another project; references and runs within it move along. */
export const inProject = (projectId: string, usageCase: UsageCase): UsageCase =>
  readable(JSON.parse(JSON.stringify(usageCase).replaceAll(PROJECT, projectId)) as UsageCase)

/** Unless scrambled, starts come from the top and ends from the bottom. */
const arrivals = (
  plan: ForestPlan,
  forest: ReadonlyArray<Node>,
  disturbances: ReadonlyArray<Disturbance>,
): ReadonlyArray<Operation> => {
  const place = (nth: number): number => (nth * 50) / forest.length
  const starts = forest.flatMap(({ plan: node, start }, index) => {
    const comes = plan.scrambled ? node.startComes : place(index)
    return node.sent === 'end' ? [] : [{ comes, operation: { kind: 'start', start } as const }]
  })
  const ends = forest.flatMap(({ plan: node, end }, index) => {
    const comes = plan.scrambled ? node.endComes : 50 + place(forest.length - index)
    return node.sent === 'start' ? [] : [{ comes, operation: { kind: 'end', end } as const }]
  })
  const others = disturbances.map((disturbance) => ({
    comes: disturbance.comes,
    operation: operationOf(forest, disturbance),
  }))
  return [...starts, ...ends, ...others]
    .toSorted((a, b) => a.comes - b.comes)
    .map(({ operation }) => operation)
}

import fc from 'fast-check'
import type { Json } from './operations.js'
import { arbitraryOddCounts, arbitraryUsage } from './usage-cases.js'

/**
 * A forest before it is written down. Numbers are read relative to the place of a node and the size of the
 * forest, so that a node can be taken away and the rest still means something: that is how cases shrink.
 */
export interface NodePlan {
  readonly kinship: number
  readonly pick: number
  readonly trace: 'as the tree' | 'absent' | 'own id' | 'elsewhere'
  readonly source: 'as the tree' | 'js-sdk' | 'python-sdk' | 'gateway' | 'other' | 'none' | 'odd'
  readonly sent: 'whole' | 'start' | 'end'
  readonly used: Json
  readonly claims: 'sum' | 'own' | 'less' | 'first child' | 'nothing'
  readonly counts: 'as its source' | 'none' | 'sum' | 'short' | 'ample' | 'odd'
  readonly oddCounts: Json
  readonly startedAt: number
  readonly took: number
  readonly flavour: number
  readonly startComes: number
  readonly endComes: number
}

export interface ForestPlan {
  readonly nodes: ReadonlyArray<NodePlan>
  readonly shape: 'trees' | 'chain' | 'wide' | 'levels' | 'ring' | 'tangle'
  readonly ids: 'plain' | 'tricky'
  readonly traces: 'named' | 'id of the root' | 'absent'
  readonly source: 'js-sdk' | 'python-sdk' | 'none'
  readonly tick: 1_000_000 | 1000 | 1
  readonly scrambled: boolean
}

const mostly = <T extends string>(usual: T, ...others: ReadonlyArray<T>): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 5 * others.length, arbitrary: fc.constant(usual) },
    ...others.map((other) => ({ weight: 1, arbitrary: fc.constant(other) })),
  )

const arbitraryNode: fc.Arbitrary<NodePlan> = fc.record({
  kinship: fc.nat(99),
  pick: fc.nat(99),
  trace: mostly<NodePlan['trace']>('as the tree', 'absent', 'own id', 'elsewhere'),
  source: mostly<NodePlan['source']>(
    'as the tree',
    'js-sdk',
    'python-sdk',
    'gateway',
    'other',
    'none',
    'odd',
  ),
  sent: mostly<NodePlan['sent']>('whole', 'start', 'end'),
  used: arbitraryUsage,
  claims: mostly<NodePlan['claims']>('sum', 'own', 'less', 'first child', 'nothing'),
  counts: mostly<NodePlan['counts']>('as its source', 'none', 'sum', 'short', 'ample', 'odd'),
  oddCounts: arbitraryOddCounts,
  startedAt: fc.nat(6),
  took: fc.integer({ min: -2, max: 3 }),
  flavour: fc.nat(9999),
  startComes: fc.nat(99),
  endComes: fc.nat(99),
})

export const arbitraryForest: fc.Arbitrary<ForestPlan> = fc.record({
  nodes: fc.array(arbitraryNode, { minLength: 1, maxLength: 25, size: 'medium' }),
  shape: fc.constantFrom<ForestPlan['shape']>('trees', 'chain', 'wide', 'levels', 'ring', 'tangle'),
  ids: fc.constantFrom<ForestPlan['ids']>('plain', 'tricky'),
  traces: fc.constantFrom<ForestPlan['traces']>('named', 'id of the root', 'absent'),
  source: fc.constantFrom<ForestPlan['source']>('js-sdk', 'python-sdk', 'none'),
  tick: fc.constantFrom<ForestPlan['tick']>(1_000_000, 1000, 1),
  scrambled: fc.boolean(),
})

const RING = 3

/** The place of a node's parent, a parent nobody sends, or none. */
export type Parent = number | 'missing' | undefined

export const parentOf = (plan: ForestPlan, index: number): Parent => {
  const { kinship, pick } = plan.nodes[index]!
  if (plan.shape === 'tangle') return tangled(kinship, pick, plan.nodes.length, index)
  if (plan.shape === 'ring' && index < RING) return (index + 1) % Math.min(RING, plan.nodes.length)
  if (kinship > 97) return index
  if (kinship > 94) return 'missing'
  if (index === 0 || kinship < 8) return undefined
  switch (plan.shape) {
    case 'trees':
    case 'ring':
      return pick % index
    case 'chain':
      return index % 7 === 0 ? undefined : index - 1
    case 'wide':
      return pick % Math.min(index, 2)
    case 'levels':
      return Math.floor((index - 1) / 3)
  }
}

const tangled = (kinship: number, pick: number, size: number, index: number): Parent => {
  if (kinship < 20) return undefined
  if (kinship < 27) return 'missing'
  if (kinship < 37) return index
  return kinship < 60 ? (index + 1) % size : pick % size
}

import fc from 'fast-check'
import type { Node } from './forest.js'
import type { Operation, SentEnd, SentStart, UsageReporting } from './operations.js'
import { around, NOBODY } from './pools.js'
import { instantText, optional } from './spelling.js'
import { microseconds } from './instant.js'

/** Something that comes on top of the starts and ends of a forest, at a place between 0 and 110. */
export type Disturbance =
  | {
      readonly kind: 'start again' | 'end again'
      readonly node: number
      readonly form: number
      readonly comes: number
    }
  | {
      readonly kind: 'other start' | 'other end'
      readonly node: number
      readonly form: number
      readonly comes: number
    }
  | {
      readonly kind: 'delete'
      readonly nodes: ReadonlyArray<number>
      readonly unknown: boolean
      readonly comes: number
    }
  | { readonly kind: 'update'; readonly node: number; readonly comes: number }
  | { readonly kind: 'reporting'; readonly mode: UsageReporting; readonly comes: number }
  | { readonly kind: 'end of nobody'; readonly node: number; readonly comes: number }

const node = fc.nat(24)
const form = fc.nat(99)
const comes = fc.nat(110)

const arbitraryDisturbance: fc.Arbitrary<Disturbance> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('start again' as const, 'end again' as const),
      node,
      form,
      comes,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('other start' as const, 'other end' as const),
      node,
      form,
      comes,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('delete' as const),
      nodes: fc.array(node, { minLength: 1, maxLength: 2 }),
      unknown: fc.boolean(),
      comes,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('update' as const), node, comes }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('reporting' as const),
      mode: fc.constantFrom<UsageReporting>('auto', 'own', 'rolled_up'),
      comes,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end of nobody' as const), node, comes }) },
)

export const arbitraryDisturbances = fc.array(arbitraryDisturbance, { maxLength: 6 })

/** The operation that a disturbance is in this forest. */
export const operationOf = (forest: ReadonlyArray<Node>, disturbance: Disturbance): Operation => {
  switch (disturbance.kind) {
    case 'start again':
      return { kind: 'start', start: startAgain(around(forest, disturbance.node).start, disturbance.form) }
    case 'end again':
      return { kind: 'end', end: endAgain(around(forest, disturbance.node).end, disturbance.form) }
    case 'other start':
      return { kind: 'start', start: otherStart(forest, disturbance.node, disturbance.form) }
    case 'other end':
      return { kind: 'end', end: otherEnd(forest, disturbance.node, disturbance.form) }
    case 'delete': {
      const ids = disturbance.nodes.map((index) => around(forest, index).start.id)
      return { kind: 'delete', call_ids: disturbance.unknown ? [NOBODY, ...ids] : ids }
    }
    case 'update':
      return { kind: 'update', call_id: around(forest, disturbance.node).start.id, display_name: 'renamed' }
    case 'reporting':
      return { kind: 'reporting', usage_reporting: disturbance.mode }
    case 'end of nobody':
      return { kind: 'end', end: { ...around(forest, disturbance.node).end, id: NOBODY } }
  }
}

const respelt = (instant: string, form: number): string =>
  instantText(Number(microseconds(instant) - microseconds('2025-01-01T00:00:00Z')), form)

/** The same start in other words: equal once decoded. */
const startAgain = (start: SentStart, form: number): SentStart => {
  const { trace_id, parent_id, thread_id, turn_id, wb_run_id, ...rest } = start
  return {
    ...rest,
    started_at: respelt(start.started_at, form),
    ...optional('trace_id', trace_id || null, form),
    ...optional('parent_id', parent_id || null, form + 1),
    ...optional('thread_id', thread_id || null, form + 2),
    ...optional('turn_id', turn_id || null, form),
    ...optional('wb_run_id', wb_run_id || null, form),
    ...optional('display_name', null, form),
  }
}

const endAgain = (end: SentEnd, form: number): SentEnd => {
  const { exception, ...rest } = end
  return { ...rest, ended_at: respelt(end.ended_at, form), ...optional('exception', exception || null, form) }
}

/** Another start under the same id, which contradicts if it comes second and stands if it comes first. */
const otherStart = (forest: ReadonlyArray<Node>, index: number, form: number): SentStart => {
  const { start } = around(forest, index)
  const neighbour = around(forest, form)
  switch (form % 5) {
    case 0:
      return { ...start, started_at: instantText(form, form) }
    case 1:
      return { ...start, op_name: 'another' }
    case 2:
      return { ...start, trace_id: neighbour.trace }
    case 3:
      return { ...start, parent_id: neighbour.start.id }
    default:
      return { ...start, attributes: neighbour.start.attributes, thread_id: 'thread-1' }
  }
}

const otherEnd = (forest: ReadonlyArray<Node>, index: number, form: number): SentEnd => {
  const { end } = around(forest, index)
  const neighbour = around(forest, form)
  return form % 2 === 0
    ? { ...end, summary: neighbour.end.summary }
    : { ...end, ended_at: instantText(form, form), trace_id: neighbour.trace }
}

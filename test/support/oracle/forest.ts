import { PROJECT } from './given.js'
import { isObject } from './json.js'
import type { Json, JsonObject, SentEnd, SentStart } from './operations.js'
import { type ForestPlan, type NodePlan, parentOf } from './plan.js'
import { around, NOBODY, OPS, REFS, TRICKY_IDS } from './pools.js'
import { sdkSum } from './sdk-sum.js'
import { instantText, optional } from './spelling.js'

/** A node of a plan as its client sends it. */
export interface Node {
  readonly plan: NodePlan
  readonly start: SentStart
  readonly end: SentEnd
  /** The trace the client has in mind, said or not. */
  readonly trace: string
}

interface Finished {
  readonly endedAt: number
  readonly summary: { readonly [key: string]: Json }
}

/** Writes a plan down as starts and ends; SDK parents carry the sums of the children they saw end. */
export const writeForest = (plan: ForestPlan): ReadonlyArray<Node> => {
  const places = plan.nodes.map((_, index) => index)
  const parents = places.map((index) => parentOf(plan, index))
  const finished = new Map<number, Finished>()
  const underway = new Set<number>()

  const finish = (index: number): Finished | undefined => {
    const known = finished.get(index)
    if (known !== undefined || underway.has(index)) return known
    underway.add(index)
    const children = places.filter((child) => child !== index && parents[child] === index)
    const ended = children.filter((child) => plan.nodes[child]!.sent !== 'start')
    const done = finishedNode(
      plan,
      index,
      ended.flatMap((child) => finish(child) ?? []),
    )
    finished.set(index, done)
    return done
  }

  const idAt = (index: number): string => (plan.ids === 'plain' ? `c${index}` : around(TRICKY_IDS, index))
  const rootOf = (index: number, seen: ReadonlyArray<number> = []): number => {
    const parent = parents[index]
    if (typeof parent !== 'number') return index
    return seen.includes(index)
      ? Math.min(...seen.slice(seen.indexOf(index)))
      : rootOf(parent, [...seen, index])
  }

  return places.map((index) => {
    const node = plan.nodes[index]!
    const { endedAt, summary } = finish(index)!
    const parent = parents[index]
    const parentId = parent === 'missing' ? NOBODY : parent === undefined ? null : idAt(parent)
    const trace = traceOf(plan, node, rootOf(index), idAt, index)
    return {
      plan: node,
      trace: trace ?? idAt(index),
      start: startOf(plan, node, idAt(index), parentId, trace),
      end: endOf(plan, node, idAt(index), endedAt, summary),
    }
  })
}

const finishedNode = (plan: ForestPlan, index: number, children: ReadonlyArray<Finished>): Finished => {
  const node = plan.nodes[index]!
  const latest = Math.max(node.startedAt, ...children.map(({ endedAt }) => endedAt))
  const endedAt = node.took < 0 ? node.startedAt - node.took : latest + node.took
  const usage = claimed(
    node,
    children.map(({ summary }) => summary.usage ?? {}),
  )
  const counts = countsOf(
    node,
    sourceOf(plan, node),
    children.map(({ summary }) => summary.status_counts ?? {}),
  )
  return { endedAt, summary: { ...usage, ...counts } }
}

const claimed = (node: NodePlan, children: ReadonlyArray<Json>): JsonObject => {
  switch (node.claims) {
    case 'sum':
      return { usage: children.length === 0 ? node.used : sdkSum([node.used, ...children]) }
    case 'own':
      return { usage: node.used }
    case 'less':
      return { usage: sdkSum([node.used, ...children.slice(1)]) }
    case 'first child':
      return { usage: children[0] ?? node.used }
    case 'nothing':
      return {}
  }
}

const countsOf = (node: NodePlan, source: Json, children: ReadonlyArray<Json>): JsonObject => {
  const one = node.flavour % 4 === 0 ? { success: 0, error: 1 } : { success: 1, error: 0 }
  switch (node.counts) {
    case 'as its source':
      return source === 'python-sdk' ? { status_counts: sdkSum([one, ...children]) } : {}
    case 'none':
      return {}
    case 'sum':
      return { status_counts: sdkSum([one, ...children]) }
    case 'short':
      return { status_counts: sdkSum(children) }
    case 'ample':
      return { status_counts: sdkSum([one, { success: 3 }, ...children]) }
    case 'odd':
      return { status_counts: node.oddCounts }
  }
}

const sourceOf = (plan: ForestPlan, node: NodePlan): Json => {
  if (node.source === 'odd') return around<Json>([['js-sdk'], 'JS-SDK', 7, 'python-sdk '], node.flavour)
  const source = node.source === 'as the tree' ? plan.source : node.source
  return source === 'none' ? null : source
}

const traceOf = (
  plan: ForestPlan,
  node: NodePlan,
  root: number,
  idAt: (index: number) => string,
  index: number,
): string | null => {
  switch (node.trace) {
    case 'absent':
      return null
    case 'own id':
      return idAt(index)
    case 'elsewhere':
      return around(['trace-0', 'trace-1', idAt(0), idAt(root)], node.pick)
    case 'as the tree':
      if (plan.traces === 'absent') return null
      return plan.traces === 'named' ? `trace-${root % 2}` : idAt(root)
  }
}

const attributesOf = (source: Json, flavour: number): JsonObject => {
  if (source === null)
    return around<JsonObject>([{}, { weave: {} }, { weave: 'js-sdk' }, { weave: null }], flavour)
  return { weave: { client_version: source === 'python-sdk' ? '0.54.0' : '0.11.1', source } }
}

const refsOf = (flavour: number): JsonObject =>
  flavour % 3 === 0 ? { arg0: [{ deep: around(REFS, Math.floor(flavour / 3)) }] } : { arg0: 'text' }

const startOf = (
  plan: ForestPlan,
  node: NodePlan,
  id: string,
  parentId: string | null,
  trace: string | null,
): SentStart => ({
  project_id: PROJECT,
  id,
  op_name: around(OPS, node.flavour),
  started_at: instantText(node.startedAt * plan.tick, node.flavour),
  attributes: attributesOf(sourceOf(plan, node), node.flavour),
  inputs: refsOf(node.flavour),
  ...optional('trace_id', trace, node.flavour),
  ...optional('parent_id', parentId, node.flavour + 1),
  ...optional('thread_id', around([null, 'thread-1', 'thread-2'], node.flavour), node.pick),
  ...optional('turn_id', around([null, 'turn-1'], node.flavour), node.pick + 1),
  ...optional('wb_run_id', around([null, 'run', 'team/project/run'], node.pick), node.flavour),
})

const endOf = (
  plan: ForestPlan,
  node: NodePlan,
  id: string,
  endedAt: number,
  summary: JsonObject,
): SentEnd => ({
  project_id: PROJECT,
  id,
  ended_at: instantText(endedAt * plan.tick, node.flavour + node.pick),
  summary: isObject(summary.usage) || node.flavour % 2 === 0 ? summary : { ...summary, weave: {} },
  output: refsOf(node.flavour + 1),
  ...optional('exception', node.flavour % 5 === 0 ? 'Error: no' : null, node.pick),
})

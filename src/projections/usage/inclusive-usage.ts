import { yielding } from '../../kernel/yield-to-event-loop.js'
import { COUNTERS } from './columns.js'
import { cyclesOf, topologyOf } from '../calls/topology.js'
import type { ModelEntries, TraceCalls } from './trace.js'

const WIDTH = COUNTERS.length

/** By model, or by another key: `COUNTERS`, then the first and the last start of the calls that used it. */
export type UsageByKey = ReadonlyMap<number, readonly number[]>

/** An answer would have too many entries per call and model. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** Bounds the memory of one answer: an entry takes up to 200 bytes. */
export class EntryBudget {
  #left: number
  constructor(entries = 2_000_000) {
    this.#left = entries
  }

  take(entries: number): void {
    this.#left -= entries
    if (this.#left < 0) throw new AnswerTooLarge('too many entries per call and model')
  }
}

interface Request {
  readonly calls: TraceCalls
  readonly own: ModelEntries
  /** Indexes of calls that are not deleted. */
  readonly selected: ArrayLike<number>
  /** What a call's usage of a model is summed by. */
  readonly keyOf?: (call: number, model: number) => number
  readonly budget?: EntryBudget
}

export interface InclusiveUsage {
  /** The usage of each selected call and all its descendants. */
  readonly usage: readonly UsageByKey[]
  /** Indexes of the running calls below the selected ones, selected themselves or not. */
  readonly unfinishedDescendants: readonly number[]
}

/**
 * Adds each call's own usage to the nearest selected call above it, and then each selected call's to the nearest
 * selected one above that. The calls of a cycle are summed as one.
 */
export const inclusiveUsage = async ({
  calls,
  own,
  selected,
  keyOf = (_call, model) => model,
  budget = new EntryBudget(),
}: Request): Promise<InclusiveUsage> => {
  const pause = yielding()
  const living = livingForest(calls)
  await pause()
  const isSelected = new Uint8Array(calls.ids.length)
  for (let n = 0; n < selected.length; n += 1) isSelected[selected[n]!] = 1
  const nearest = nearestSelected(living, isSelected)
  await pause()
  const sums = new Map<number, Map<number, number[]>>()
  const sumsOf = (node: number): Map<number, number[]> => {
    let found = sums.get(node)
    if (found === undefined) sums.set(node, (found = new Map<number, number[]>()))
    return found
  }

  for (let call = 0; call < calls.ids.length; call += 1) {
    if (call % 64 === 0) await pause()
    const to = nearest[living.node[call]!]!
    if (to < 0) continue
    for (let entry = own.offsets[call]!; entry < own.offsets[call + 1]!; entry += 1)
      add(sumsOf(to), keyOf(call, own.model[entry]!), ownSums(own, entry, calls.started[call]!), budget)
  }
  for (const [n, node] of living.order.entries()) {
    if (n % 64 === 0) await pause()
    const above = living.parent[node]!
    const to = above < 0 ? -1 : nearest[above]!
    if (nearest[node] !== node || to < 0) continue
    const into = sumsOf(to)
    let added = 0
    for (const [key, counters] of sumsOf(node)) {
      add(into, key, counters, budget)
      if ((added += 1) % 64 === 0) await pause()
    }
  }
  const usage: UsageByKey[] = []
  for (let n = 0; n < selected.length; n += 1) {
    const node = living.node[selected[n]!]!
    const found = sums.get(node) ?? NOTHING
    if (node !== selected[n]) budget.take(found.size)
    usage.push(found)
  }
  return { usage, unfinishedDescendants: unfinishedBelow(calls, living, isSelected, nearest) }
}

const NOTHING: UsageByKey = new Map()

const ownSums = ({ values }: ModelEntries, entry: number, started: number): number[] => {
  const sums = values.slice(entry * WIDTH, (entry + 1) * WIDTH)
  sums.push(started, started)
  return sums
}

const add = (
  into: Map<number, number[]>,
  key: number,
  added: readonly number[],
  budget: EntryBudget,
): void => {
  const sums = into.get(key)
  if (sums === undefined) {
    budget.take(1)
    into.set(key, [...added])
    return
  }
  for (let k = 0; k < WIDTH; k += 1) sums[k]! += added[k]!
  sums[WIDTH] = Math.min(sums[WIDTH]!, added[WIDTH]!)
  sums[WIDTH + 1] = Math.max(sums[WIDTH + 1]!, added[WIDTH + 1]!)
}

/** The calls that aren't deleted, each cycle contracted to the node of its first call. */
export interface Forest {
  /** From each call to its parent, or -1, cycles included. */
  readonly living: Int32Array
  readonly node: Int32Array
  /** From node to node, or -1. */
  readonly parent: Int32Array
  /** All nodes, each before its parent. */
  readonly order: Int32Array
  readonly cycles: readonly (readonly number[])[]
}

export const livingForest = ({ parent, isDeleted }: TraceCalls): Forest => {
  const living = parent.map((above, call) =>
    above >= 0 && isDeleted[above] === 0 && isDeleted[call] === 0 ? above : -1,
  )
  const topology = topologyOf(living)
  const cycles = cyclesOf(living, topology)
  const node = Int32Array.from(living.keys())
  for (const cycle of cycles) for (const call of cycle) node[call] = cycle[0]!
  const order = new Int32Array(topology.acyclic + cycles.length)
  order.set(topology.order.subarray(0, topology.acyclic))
  cycles.forEach(([first], n) => (order[topology.acyclic + n] = first!))
  const above = living.map((to, call) => (to < 0 || node[to] === node[call] ? -1 : node[to]!))
  return { living, node, parent: above, order, cycles }
}

/** The nearest selected node at or above each node; -1 for none. */
const nearestSelected = ({ node, parent, order, cycles }: Forest, isSelected: Uint8Array): Int32Array => {
  const nearest = new Int32Array(parent.length).fill(-1)
  for (const cycle of cycles) if (cycle.some((call) => isSelected[call] === 1)) nearest[cycle[0]!] = cycle[0]!
  for (let n = order.length - 1; n >= 0; n -= 1) {
    const at = order[n]!
    if (nearest[at]! >= 0) continue
    if (isSelected[at] === 1) nearest[at] = node[at]!
    else if (parent[at]! >= 0) nearest[at] = nearest[parent[at]!]!
  }
  return nearest
}

/** The running calls that have a selected call above them, or another one on their cycle. */
const unfinishedBelow = (
  { ended, isDeleted }: TraceCalls,
  { node, parent, cycles }: Forest,
  isSelected: Uint8Array,
  nearest: Int32Array,
): readonly number[] => {
  const selectedOnCycle = new Map(
    cycles.map((cycle) => [cycle[0]!, cycle.filter((call) => isSelected[call] === 1).length]),
  )
  const below: number[] = []
  for (let call = 0; call < ended.length; call += 1) {
    if (!Number.isNaN(ended[call]) || isDeleted[call] === 1) continue
    const onCycle = selectedOnCycle.get(node[call]!)
    const above = parent[call]!
    if (onCycle === undefined ? above >= 0 && nearest[above]! >= 0 : onCycle > isSelected[call]!)
      below.push(call)
  }
  return below
}

/** Some calls that aren't deleted, and all their descendants, each once. */
export const atOrBelow = (
  { parent, isDeleted }: TraceCalls,
  roots: Iterable<number>,
): ReadonlySet<number> => {
  const children = new Map<number, number[]>()
  for (const [call, above] of parent.entries()) {
    if (above < 0 || isDeleted[call] === 1 || isDeleted[above] === 1) continue
    const siblings = children.get(above)
    if (siblings === undefined) children.set(above, [call])
    else siblings.push(call)
  }
  // The iteration includes what is added to the set meanwhile.
  const reached = new Set(roots)
  for (const call of reached) for (const child of children.get(call) ?? []) reached.add(child)
  return reached
}

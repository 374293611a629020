import { FIGURES } from '../../domain/call/usage.js'
import type { Counting } from './fold.js'
import type { Inclusive } from './inclusive.js'
import { modelSets } from './model-sets.js'
import { cyclesOf, type Topology } from './topology.js'
import type { TraceColumns } from './trace-columns.js'

const REPORTED = FIGURES.length
const LARGEST = 2n ** 53n

/** Whether sums of these figures could pass 2^53, beyond which doubles are no longer exact. */
export const mayPassExactness = ({ reported, size }: TraceColumns): boolean => {
  let sum = 0
  const end = reported.offsets[size]! * REPORTED
  for (let k = 0; k < end; k += 1) sum += Math.abs(reported.figures[k]!)
  return sum >= 2 ** 53
}

type Usage = Map<number, bigint[]>

/** Own usage in unbounded integers, by call: what SDKs had added to parents taken out. */
export type OwnUsage = readonly Usage[]

/**
 * The same roll-up in unbounded integers, for figures so large that doubles would round. Plain and slow: real token
 * counts never come here.
 */
export const sumUpExactly = (
  columns: TraceColumns,
  usage: OwnUsage,
  parent: Int32Array,
  living: Topology,
  counting: Counting,
): Inclusive<readonly bigint[]> => {
  const sums = usage.map((own, call): Usage =>
    columns.deleted[call] === 1 ? new Map<number, bigint[]>() : fold(own, call, counting),
  )
  for (const call of living.order.subarray(0, living.acyclic))
    if (parent[call]! >= 0) addInto(sums[parent[call]!]!, sums[call]!)
  for (const cycle of cyclesOf(parent, living)) {
    const all: Usage = new Map()
    for (const call of cycle) addInto(all, sums[call]!)
    for (const call of cycle) sums[call] = all
  }
  return inclusiveOf(sums, counting.width)
}

export const ownExactly = ({ size, parent, reported }: TraceColumns, added: Uint8Array): OwnUsage => {
  const raw = Array.from({ length: size }, (_, call): Usage => {
    const usage: Usage = new Map()
    for (let entry = reported.offsets[call]!; entry < reported.offsets[call + 1]!; entry += 1) {
      const figures = reported.figures.subarray(entry * REPORTED, (entry + 1) * REPORTED)
      usage.set(reported.model[entry]!, Array.from(figures, BigInt))
    }
    return usage
  })
  const own = raw.map((usage) => new Map([...usage].map(([model, figures]) => [model, [...figures]])))
  const gaveBack = new Set<number>()
  raw.forEach((usage, call) => {
    if (added[call] === 0) return
    gaveBack.add(parent[call]!)
    for (const [model, figures] of usage) {
      const left = own[parent[call]!]!.get(model)
      figures.forEach((figure, k) => left !== undefined && (left[k]! -= figure))
    }
  })
  for (const call of gaveBack)
    for (const figures of own[call]!.values())
      figures.forEach((figure, k) => (figures[k] = figure < 0n ? 0n : figure))
  return own
}

const fold = (usage: Usage, call: number, { keyOf, foldExactly }: Counting): Usage => {
  const folded: Usage = new Map()
  for (const [model, figures] of usage) {
    const counters = foldExactly(figures)
    if (counters.some((counter) => counter !== 0n)) folded.set(keyOf(call, model), [...counters])
  }
  return folded
}

const addInto = (into: Usage, from: Usage): void => {
  for (const [model, counters] of from) {
    const sum = into.get(model)
    if (sum === undefined) into.set(model, [...counters])
    else counters.forEach((counter, k) => (sum[k]! += counter))
  }
}

const inclusiveOf = (sums: readonly Usage[], width: number): Inclusive<readonly bigint[]> => {
  const sets = modelSets()
  const set = Int32Array.from(sums, (usage) => sets.of([...usage.keys()].sort((a, b) => a - b)))
  const offsets = new Float64Array(sums.length + 1)
  sums.forEach((usage, call) => (offsets[call + 1] = offsets[call]! + usage.size))
  const values = sums.flatMap((usage, call) => sets.models(set[call]!).flatMap((key) => usage.get(key)!))
  return { set, sets, offsets, width, values }
}

/** Each counter as the nearest double within ±2^53. */
export const clamped = ({ values, ...rest }: Inclusive<readonly bigint[]>): Inclusive => ({
  ...rest,
  values: Float64Array.from(values, clamp),
})

const clamp = (value: bigint): number =>
  Number(value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value)

import { FIGURES } from '../../domain/call/usage.js'
import { COUNTERS, WIDTH } from './fold.js'
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

/**
 * The same roll-up in unbounded integers, for figures so large that doubles would round; the answers are clamped to
 * ±2^53 at the end. Plain and slow: real token counts never come here.
 */
export const rollUpExactly = (
  columns: TraceColumns,
  added: Uint8Array,
  parent: Int32Array,
  living: Topology,
): Inclusive => {
  const sums = ownExactly(columns, added).map((own, call): Usage =>
    columns.deleted[call] === 1 ? new Map<number, bigint[]>() : own,
  )
  for (const call of living.order.subarray(0, living.acyclic))
    if (parent[call]! >= 0) addInto(sums[parent[call]!]!, sums[call]!)
  for (const cycle of cyclesOf(parent, living)) {
    const all: Usage = new Map()
    for (const call of cycle) addInto(all, sums[call]!)
    for (const call of cycle) sums[call] = all
  }
  return inclusiveOf(sums)
}

/** What each call used itself, in the order of `COUNTERS`, by model. */
export const ownExactly = (columns: TraceColumns, added: Uint8Array): readonly Usage[] =>
  ownUsage(columns, added).map(fold)

const ownUsage = ({ size, parent, reported }: TraceColumns, added: Uint8Array): Usage[] => {
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

/** As `foldInto`, in the order of `FIGURES` and `COUNTERS`. */
const fold = (usage: Usage): Usage => {
  const folded: Usage = new Map()
  for (const [model, figures] of usage) {
    const [requests, prompt, input, completion, output, total, read, creation] = figures as [
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
    ]
    const counters = [
      requests,
      prompt + input,
      completion + output,
      total === 0n ? prompt + input + completion + output : total,
      read,
      creation,
    ]
    if (counters.some((counter) => counter !== 0n)) folded.set(model, counters)
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

const inclusiveOf = (sums: readonly Usage[]): Inclusive => {
  const sets = modelSets()
  const set = Int32Array.from(sums, (usage) => sets.of([...usage.keys()].sort((a, b) => a - b)))
  const offsets = new Float64Array(sums.length + 1)
  sums.forEach((usage, call) => (offsets[call + 1] = offsets[call]! + usage.size))
  const values = new Float64Array(offsets[sums.length]! * WIDTH)
  sums.forEach((usage, call) =>
    sets
      .models(set[call]!)
      .forEach((model, place) =>
        COUNTERS.forEach(
          (_, k) => (values[(offsets[call]! + place) * WIDTH + k] = clamp(usage.get(model)![k]!)),
        ),
      ),
  )
  return { set, sets, offsets, values }
}

const clamp = (value: bigint): number =>
  Number(value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value)

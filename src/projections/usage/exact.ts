import { FIGURES } from '../../domain/call/usage.js'
import { yielding } from '../../yield-to-event-loop.js'
import type { Counting } from './fold.js'
import type { Inclusive } from './inclusive.js'
import { AnswerTooLarge, modelSets } from './model-sets.js'
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

/** The most pairs of a call and a model: a pair takes hundreds of bytes here. */
const MAX_ENTRIES = 1_000_000

/**
 * The same roll-up in unbounded integers, for figures so large that doubles would round. Plain and slow: real token
 * counts never come here.
 */
export const sumUpExactly = async (
  columns: TraceColumns,
  usage: OwnUsage,
  parent: Int32Array,
  living: Topology,
  counting: Counting,
): Promise<Inclusive<readonly bigint[]>> => {
  const yieldNow = yielding()
  let entries = 0
  const sums: Usage[] = []
  for (const [call, own] of usage.entries()) {
    const sum: Usage = columns.deleted[call] === 1 ? new Map<number, bigint[]>() : fold(own, call, counting)
    entries += sum.size
    sums.push(sum)
    if (call % 64 === 0) await yieldNow()
  }
  const add = async (into: Usage, call: number) => {
    const before = into.size
    addInto(into, sums[call]!)
    entries += into.size - before
    if (entries > MAX_ENTRIES)
      throw new AnswerTooLarge(`more than ${MAX_ENTRIES} usage entries with large values`)
    await yieldNow()
  }
  for (const call of living.order.subarray(0, living.acyclic))
    if (parent[call]! >= 0) await add(sums[parent[call]!]!, call)
  for (const cycle of cyclesOf(parent, living)) {
    const all: Usage = new Map()
    for (const call of cycle) await add(all, call)
    entries += all.size * cycle.length
    for (const call of cycle) sums[call] = all
  }
  if (entries > MAX_ENTRIES)
    throw new AnswerTooLarge(`more than ${MAX_ENTRIES} usage entries with large values`)
  return inclusiveOf(sums, counting.width)
}

export const ownExactly = async (
  { size, parent, reported }: TraceColumns,
  added: Uint8Array,
): Promise<OwnUsage> => {
  const yieldNow = yielding()
  const raw: Usage[] = []
  for (let call = 0; call < size; call += 1) {
    const usage: Usage = new Map()
    for (let entry = reported.offsets[call]!; entry < reported.offsets[call + 1]!; entry += 1) {
      const figures = reported.figures.subarray(entry * REPORTED, (entry + 1) * REPORTED)
      usage.set(reported.model[entry]!, Array.from(figures, BigInt))
    }
    raw.push(usage)
    await yieldNow()
  }
  const own: Usage[] = []
  for (const usage of raw) {
    own.push(new Map([...usage].map(([model, figures]) => [model, [...figures]])))
    await yieldNow()
  }
  const gaveBack = new Set<number>()
  for (const [call, usage] of raw.entries()) {
    await yieldNow()
    if (added[call] === 0) continue
    gaveBack.add(parent[call]!)
    for (const [model, figures] of usage) {
      const left = own[parent[call]!]!.get(model)
      figures.forEach((figure, k) => left !== undefined && (left[k]! -= figure))
    }
  }
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

const inclusiveOf = async (sums: readonly Usage[], width: number): Promise<Inclusive<readonly bigint[]>> => {
  const yieldNow = yielding()
  const sets = modelSets()
  const set = new Int32Array(sums.length)
  const offsets = new Float64Array(sums.length + 1)
  const values: bigint[] = []
  for (const [call, usage] of sums.entries()) {
    const keys = [...usage.keys()].sort((a, b) => a - b)
    set[call] = sets.of(keys)
    offsets[call + 1] = offsets[call]! + usage.size
    for (const key of keys) values.push(...usage.get(key)!)
    await yieldNow()
  }
  return { set, sets, offsets, width, values }
}

/** Each counter as the nearest double within ±2^53. */
export const clamped = async ({ values, ...rest }: Inclusive<readonly bigint[]>): Promise<Inclusive> => {
  const yieldNow = yielding()
  const doubles = new Float64Array(values.length)
  for (const [index, value] of values.entries()) {
    doubles[index] = clamp(value)
    if (index % 64 === 0) await yieldNow()
  }
  return { ...rest, values: doubles }
}

const clamp = (value: bigint): number =>
  Number(value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value)

import { yielding } from '../../yield-to-event-loop.js'
import type { Counting } from './fold.js'
import { AnswerTooLarge, modelSets, type ModelSets } from './model-sets.js'
import { cyclesOf, type Topology } from './topology.js'
import type { TraceColumns } from './trace-columns.js'

/**
 * Sums with all descendants: the entries of call `i` are `offsets[i]` to `offsets[i + 1]`, one a key of its set. The keys
 * of usage are models.
 */
export interface Inclusive<V extends Counters = Float64Array> {
  readonly set: Int32Array
  readonly sets: Pick<ModelSets, 'models'>
  readonly offsets: Float64Array
  /** So many counters an entry: of usage six, in the order of `COUNTERS`. */
  readonly width: number
  readonly values: V
}

/** Doubles where they are exact, whole numbers of any size beyond. */
export type Counters = Float64Array | readonly bigint[]

/** The most pairs of a call and a model: half a gigabyte of sums. */
const MAX_ENTRIES = 10_000_000

/** Sums own figures up the living forest; `parent` leads from each living call to its living parent, or is -1. */
export const sumUp = async (
  columns: TraceColumns,
  parent: Int32Array,
  topology: Topology,
  counting: Counting,
): Promise<Inclusive> => {
  const { size, deleted, reported } = columns
  const { width, fold } = counting
  const yieldNow = yielding()
  const sets = modelSets()
  const own = await ownSets(columns, sets, counting)
  const set = own.slice()
  const acyclic = topology.order.subarray(0, topology.acyclic)
  for (const call of acyclic) {
    const above = parent[call]!
    if (above >= 0) set[above] = sets.union(set[above]!, set[call]!)
    if (call % 64 === 0) await yieldNow()
  }
  const cycles = cyclesOf(parent, topology)
  for (const cycle of cycles) {
    let all = 0
    for (const call of cycle) {
      all = sets.union(all, set[call]!)
      if (call % 64 === 0) await yieldNow()
    }
    for (const call of cycle) set[call] = all
  }

  const offsets = new Float64Array(size + 1)
  for (let call = 0; call < size; call += 1)
    offsets[call + 1] = offsets[call]! + sets.models(set[call]!).length
  const entries = offsets[size]!
  if (entries > MAX_ENTRIES) throw new AnswerTooLarge(`more than ${MAX_ENTRIES} usage entries`)
  const values = new Float64Array(entries * width)
  const scratch = new Float64Array(width)

  for (let call = 0; call < size; call += 1) {
    if (call % 64 === 0) await yieldNow()
    if (deleted[call] === 1 || own[call] === 0) continue
    const places = sets.placesIn(own[call]!, set[call]!)
    let next = 0
    for (let entry = reported.offsets[call]!; entry < reported.offsets[call + 1]!; entry += 1) {
      if (!fold(reported.figures, entry, scratch, 0)) continue
      const to = (offsets[call]! + places[next++]!) * width
      for (let k = 0; k < width; k += 1) values[to + k] = scratch[k]!
    }
  }

  const add = (from: number, into: number): void => {
    if (set[from] === 0) return
    let at = offsets[from]! * width
    const base = offsets[into]!
    if (set[from] === set[into]) {
      const end = offsets[from + 1]! * width
      for (let to = base * width; at < end; at += 1, to += 1) values[to]! += values[at]!
      return
    }
    for (const place of sets.placesIn(set[from]!, set[into]!)) {
      const to = (base + place) * width
      for (let k = 0; k < width; k += 1) values[to + k]! += values[at + k]!
      at += width
    }
  }

  for (const call of acyclic) {
    if (parent[call]! >= 0) add(call, parent[call]!)
    if (call % 64 === 0) await yieldNow()
  }
  for (const cycle of cycles) {
    const [first, ...others] = cycle as [number, ...number[]]
    for (const call of others) {
      add(call, first)
      if (call % 64 === 0) await yieldNow()
    }
    const sum = values.slice(offsets[first]! * width, offsets[first + 1]! * width)
    for (const call of others) values.set(sum, offsets[call]! * width)
  }
  return { set, sets, offsets, width, values }
}

/** The keys of which a call has something of its own to say. */
const ownSets = async (
  { size, deleted, reported }: TraceColumns,
  sets: ModelSets,
  { width, keyOf, fold }: Counting,
): Promise<Int32Array> => {
  const yieldNow = yielding()
  const own = new Int32Array(size)
  const scratch = new Float64Array(width)
  for (let call = 0; call < size; call += 1) {
    if (call % 64 === 0) await yieldNow()
    if (deleted[call] === 1) continue
    const from = reported.offsets[call]!
    const to = reported.offsets[call + 1]!
    if (from === to) continue
    const keys: number[] = []
    for (let entry = from; entry < to; entry += 1)
      if (fold(reported.figures, entry, scratch, 0)) keys.push(keyOf(call, reported.model[entry]!))
    own[call] = sets.of(keys)
  }
  return own
}

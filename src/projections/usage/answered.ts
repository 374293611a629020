import type { Billed } from './billing.js'
import type { Counters, Inclusive } from './inclusive.js'
import type { RolledUp } from './roll-up.js'
import { sortYielding } from './sort-yielding.js'
import { compareIds, type Ids } from './trace-columns.js'

/** The calls of one piece of work that are answered, and no more than that. */
export interface Answered {
  readonly size: number
  readonly ids: Ids
  readonly isUnfinished: Uint8Array
  readonly models: readonly string[]
  readonly inclusive: Inclusive
  /** Where costs were asked for. */
  readonly billed: Billed | null
}

/** All calls as they are, or the few that were asked for, so that the rest of a trace can be let go. */
export const answeredCalls = (
  { size, ids, isUnfinished, models, inclusive, billed }: RolledUp,
  calls: Int32Array,
): Answered => {
  if (calls.length === size) return { size, ids, isUnfinished, models, inclusive, billed }
  return {
    size: calls.length,
    ids: pickIds(ids, calls),
    isUnfinished: Uint8Array.from(calls, (call) => isUnfinished[call]!),
    models,
    inclusive: pickInclusive(inclusive, calls, pickDoubles),
    billed: billed && { ...billed, inclusive: pickInclusive(billed.inclusive, calls, pickCounters) },
  }
}

const pickIds = ({ bytes, offsets }: Ids, calls: Int32Array): Ids => {
  const picked = new Uint32Array(calls.length + 1)
  calls.forEach((call, i) => (picked[i + 1] = picked[i]! + offsets[call + 1]! - offsets[call]!))
  const text = new Uint8Array(picked[calls.length]!)
  calls.forEach((call, i) => text.set(bytes.subarray(offsets[call], offsets[call + 1]), picked[i]))
  return { bytes: text, offsets: picked }
}

type Pick<V extends Counters> = (values: V, ranges: readonly Range[], size: number) => V
type Range = readonly [from: number, to: number]

const pickInclusive = <V extends Counters>(
  { set, sets, offsets, width, values }: Inclusive<V>,
  calls: Int32Array,
  pick: Pick<V>,
): Inclusive<V> => {
  const picked = new Float64Array(calls.length + 1)
  calls.forEach((call, i) => (picked[i + 1] = picked[i]! + offsets[call + 1]! - offsets[call]!))
  const ranges = Array.from(calls, (call): Range => [offsets[call]! * width, offsets[call + 1]! * width])
  const kept = pick(values, ranges, picked[calls.length]! * width)
  return { set: calls.map((call) => set[call]!), sets, offsets: picked, width, values: kept }
}

const pickDoubles: Pick<Float64Array> = (values, ranges, size) => {
  const kept = new Float64Array(size)
  let at = 0
  for (const [from, to] of ranges) {
    kept.set(values.subarray(from, to), at)
    at += to - from
  }
  return kept
}

const pickCounters: Pick<Counters> = (values, ranges, size) =>
  values instanceof Float64Array
    ? pickDoubles(values, ranges, size)
    : ranges.flatMap(([from, to]) => values.slice(from, to))

/** The living calls in the order of start and id, up to a limit, and how many more there are. */
export const firstStarted = async ({ size, ids, deleted, started }: RolledUp, limit: number) => {
  let calls: Int32Array = new Int32Array(size)
  let count = 0
  for (let call = 0; call < size; call += 1) if (deleted[call] === 0) calls[count++] = call
  calls = calls.subarray(0, count)
  if (count <= limit) return { calls, more: 0 }
  const inOrder = await sortYielding([...calls], (a, b) => started[a]! - started[b]! || compareIds(ids, a, b))
  return { calls: Int32Array.from(inOrder.slice(0, limit)).sort(), more: count - limit }
}

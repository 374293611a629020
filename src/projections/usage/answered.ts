import type { Inclusive } from './inclusive.js'
import type { RolledUp } from './roll-up.js'
import { WIDTH } from './fold.js'
import { compareIds, type Ids } from './trace-columns.js'

/** The calls of one piece of work that are answered, and no more than that. */
export interface Answered {
  readonly size: number
  readonly ids: Ids
  readonly isUnfinished: Uint8Array
  readonly models: readonly string[]
  readonly inclusive: Inclusive
}

/** All calls as they are, or the few that were asked for, so that the rest of a trace can be let go. */
export const answeredCalls = (
  { size, ids, isUnfinished, models, inclusive }: RolledUp,
  calls: Int32Array,
): Answered => {
  if (calls.length === size) return { size, ids, isUnfinished, models, inclusive }
  return {
    size: calls.length,
    ids: pickIds(ids, calls),
    isUnfinished: Uint8Array.from(calls, (call) => isUnfinished[call]!),
    models,
    inclusive: pickInclusive(inclusive, calls),
  }
}

const pickIds = ({ bytes, offsets }: Ids, calls: Int32Array): Ids => {
  const picked = new Uint32Array(calls.length + 1)
  calls.forEach((call, i) => (picked[i + 1] = picked[i]! + offsets[call + 1]! - offsets[call]!))
  const text = new Uint8Array(picked[calls.length]!)
  calls.forEach((call, i) => text.set(bytes.subarray(offsets[call], offsets[call + 1]), picked[i]))
  return { bytes: text, offsets: picked }
}

const pickInclusive = ({ set, sets, offsets, values }: Inclusive, calls: Int32Array): Inclusive => {
  const picked = new Float64Array(calls.length + 1)
  calls.forEach((call, i) => (picked[i + 1] = picked[i]! + offsets[call + 1]! - offsets[call]!))
  const kept = new Float64Array(picked[calls.length]! * WIDTH)
  calls.forEach((call, i) =>
    kept.set(values.subarray(offsets[call]! * WIDTH, offsets[call + 1]! * WIDTH), picked[i]! * WIDTH),
  )
  return { set: calls.map((call) => set[call]!), sets, offsets: picked, values: kept }
}

/** The living calls in the order of start and id, up to a limit, and how many more there are. */
export const firstStarted = ({ size, ids, deleted, started }: RolledUp, limit: number) => {
  let calls: Int32Array = new Int32Array(size)
  let count = 0
  for (let call = 0; call < size; call += 1) if (deleted[call] === 0) calls[count++] = call
  calls = calls.subarray(0, count)
  if (count <= limit) return { calls, more: 0 }
  const inOrder = calls.slice().sort((a, b) => started[a]! - started[b]! || compareIds(ids, a, b))
  return { calls: inOrder.slice(0, limit).sort(), more: count - limit }
}

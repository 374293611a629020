import type { RolledUp } from './roll-up.js'
import { cyclesOf, topologyOf } from './topology.js'

/** How many calls without an end stand below the answered ones, each counted once. */
export const unfinishedBelow = (
  { size, isUnfinished, deleted, parent }: RolledUp,
  isAnswered: (call: number) => boolean,
): number => {
  if (!isUnfinished.includes(1)) return 0
  const topology = topologyOf(parent)
  const below = new Uint8Array(size)
  for (const cycle of cyclesOf(parent, topology)) {
    const answered = cycle.filter(isAnswered)
    for (const call of cycle) below[call] = answered.length > (isAnswered(call) ? 1 : 0) ? 1 : 0
  }
  for (let at = topology.acyclic - 1; at >= 0; at -= 1) {
    const call = topology.order[at]!
    const above = parent[call]!
    if (above >= 0 && (isAnswered(above) || below[above] === 1)) below[call] = 1
  }
  let count = 0
  for (let call = 0; call < size; call += 1)
    if (below[call] === 1 && isUnfinished[call] === 1 && deleted[call] === 0) count += 1
  return count
}

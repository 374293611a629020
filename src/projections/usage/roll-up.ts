import type { UsageReporting } from '../../domain/project/events.js'
import { alreadyAdded } from './added.js'
import { mayPassExactness, rollUpExactly } from './exact.js'
import { sumUp, type Inclusive } from './inclusive.js'
import { subtractAdded } from './own.js'
import { topologyOf } from './topology.js'
import type { TraceColumns } from './trace-columns.js'

export interface RolledUp {
  readonly columns: TraceColumns
  readonly inclusive: Inclusive
  /** From each living call to its living parent, or -1. */
  readonly parent: Int32Array
}

/**
 * Each call's usage with all its descendants: own figures first (what SDKs had added to parents taken out), then summed
 * up the forest of calls that are not deleted. Uses up the columns' figures.
 */
export const rollUp = (columns: TraceColumns, reporting: UsageReporting): RolledUp => {
  const topology = topologyOf(columns.parent)
  const added = alreadyAdded(columns, topology, reporting)
  const parent = columns.deleted.includes(1) ? livingParents(columns) : columns.parent
  const living = parent === columns.parent ? topology : topologyOf(parent)
  if (mayPassExactness(columns))
    return { columns, inclusive: rollUpExactly(columns, added, parent, living), parent }
  subtractAdded(columns, topology, added)
  return { columns, inclusive: sumUp(columns, parent, living), parent }
}

const livingParents = ({ parent, deleted }: TraceColumns): Int32Array =>
  parent.map((above, call) => (above >= 0 && deleted[above] === 0 && deleted[call] === 0 ? above : -1))

/** How many calls without an end stand below the answered ones, each counted once. */
export const unfinishedBelow = (
  { columns, parent }: RolledUp,
  isAnswered: (call: number) => boolean,
): number => {
  const { size, ended, deleted } = columns
  const UNKNOWN = 0
  const BELOW = 1
  const NOT_BELOW = 2
  const state = new Uint8Array(size)
  const path: number[] = []
  let count = 0
  for (let call = 0; call < size; call += 1) {
    if (!Number.isNaN(ended[call]) || deleted[call] === 1) continue
    path.length = 0
    let at = call
    let verdict = NOT_BELOW
    const seen = new Set<number>()
    while (state[at] === UNKNOWN && !seen.has(at)) {
      path.push(at)
      seen.add(at)
      const above = parent[at]!
      if (above < 0) break
      if (isAnswered(above)) {
        verdict = BELOW
        break
      }
      at = above
    }
    if (state[at] !== UNKNOWN) verdict = state[at]!
    for (const step of path) state[step] = verdict
    if (verdict === BELOW) count += 1
  }
  return count
}

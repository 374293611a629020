import type { UsageReporting } from '../../domain/project/events.js'
import { alreadyAdded } from './added.js'
import { mayPassExactness, rollUpExactly } from './exact.js'
import { sumUp, type Inclusive } from './inclusive.js'
import { subtractAdded } from './own.js'
import { topologyOf } from './topology.js'
import type { FindId, Ids, TraceColumns } from './trace-columns.js'

/** Traces with their usage summed up: what answers are made from, and no more than that. */
export interface RolledUp {
  readonly size: number
  readonly ids: Ids
  readonly find: FindId
  readonly started: Float64Array
  readonly isUnfinished: Uint8Array
  readonly deleted: Uint8Array
  /** From each living call to its living parent, or -1. */
  readonly parent: Int32Array
  readonly models: readonly string[]
  readonly inclusive: Inclusive
}

/**
 * Each call's usage with all its descendants: own figures first (what SDKs had added to parents taken out), then summed
 * up the forest of calls that are not deleted. Uses up the columns' figures.
 */
export const rollUp = (columns: TraceColumns, reporting: UsageReporting): RolledUp => {
  const { size, ids, find, started, deleted } = columns
  const topology = topologyOf(columns.parent)
  const added = alreadyAdded(columns, topology, reporting)
  const parent = deleted.includes(1) ? livingParents(columns) : columns.parent
  const living = parent === columns.parent ? topology : topologyOf(parent)
  const isUnfinished = new Uint8Array(size)
  for (let call = 0; call < size; call += 1) if (Number.isNaN(columns.ended[call])) isUnfinished[call] = 1
  const rolledUp = {
    size,
    ids,
    find,
    started,
    isUnfinished,
    deleted,
    parent,
    models: columns.reported.models,
  }
  if (mayPassExactness(columns))
    return { ...rolledUp, inclusive: rollUpExactly(columns, added, parent, living) }
  subtractAdded(columns, topology, added)
  return { ...rolledUp, inclusive: sumUp(columns, parent, living) }
}

const livingParents = ({ parent, deleted }: TraceColumns): Int32Array =>
  parent.map((above, call) => (above >= 0 && deleted[above] === 0 && deleted[call] === 0 ? above : -1))

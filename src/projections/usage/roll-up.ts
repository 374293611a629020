import type { UsageReporting } from '../../domain/project/events.js'
import { alreadyAdded } from './added.js'
import type { PriceBook } from '../prices/book.js'
import { chargingOf, type Billed } from './billing.js'
import { clamped, mayPassExactness, ownExactly, sumUpExactly } from './exact.js'
import { usageCounting, type Counting } from './fold.js'
import { sumUp, type Counters, type Inclusive } from './inclusive.js'
import { subtractAdded } from './own.js'
import { topologyOf, type Topology } from './topology.js'
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
  /** Where costs were asked for. */
  readonly billed: Billed | null
}

/**
 * Each call's usage with all its descendants: own figures first (what SDKs had added to parents taken out), then summed
 * up the forest of calls that are not deleted. Uses up the columns' figures. With prices, what calls are charged for too.
 */
export const rollUp = async (
  columns: TraceColumns,
  reporting: UsageReporting,
  prices: PriceBook | null = null,
): Promise<RolledUp> => {
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
  const sums = await summing(columns, topology, added, parent, living)
  const charging = prices === null ? null : chargingOf(columns, prices)
  return {
    ...rolledUp,
    inclusive: await sums.usage(),
    billed: charging && { inclusive: await sums.of(charging.counting), charges: charging.charges },
  }
}

/** Sums of own figures, in doubles where these are exact. */
const summing = async (
  columns: TraceColumns,
  topology: Topology,
  added: Uint8Array,
  parent: Int32Array,
  living: Topology,
) => {
  if (mayPassExactness(columns)) {
    const own = await ownExactly(columns, added)
    const of = (counting: Counting) => sumUpExactly(columns, own, parent, living, counting)
    return { of, usage: async () => clamped(await of(usageCounting)) }
  }
  subtractAdded(columns, topology, added)
  const of = (counting: Counting): Promise<Inclusive<Counters>> => sumUp(columns, parent, living, counting)
  return { of, usage: () => sumUp(columns, parent, living, usageCounting) }
}

const livingParents = ({ parent, deleted }: TraceColumns): Int32Array =>
  parent.map((above, call) => (above >= 0 && deleted[above] === 0 && deleted[call] === 0 ? above : -1))

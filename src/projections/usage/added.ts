import type { UsageReporting } from '../../domain/project/events.js'
import type { Topology } from './topology.js'
import type { TraceColumns } from './trace-columns.js'
import { SOURCES } from './usage-fact.js'

/**
 * Which calls' usage their parents' figures already include: 1 for a call whose figures an SDK summed into its parent,
 * by the rules of docs/usage.md. A project's own choice overrides the detection.
 */
export const alreadyAdded = (
  columns: TraceColumns,
  topology: Topology,
  reporting: UsageReporting,
): Uint8Array => {
  const { size, parent } = columns
  const added = new Uint8Array(size)
  if (reporting === 'own') return added
  const onCycle = new Uint8Array(size)
  for (const call of topology.order.subarray(topology.acyclic)) onCycle[call] = 1
  const isAdded = reporting === 'rolled_up' ? () => true : sdkAdded(columns)
  for (let call = 0; call < size; call += 1) {
    const above = parent[call]!
    if (above >= 0 && onCycle[call] === 0 && isAdded(call, above)) added[call] = 1
  }
  if (reporting === 'auto') vetoByStatus(columns, added)
  return added
}

const sdkAdded =
  ({ source, ended, reported }: TraceColumns) =>
  (child: number, parent: number): boolean =>
    isOfOneSource(source[child]!, source[parent]!) &&
    isInTime(source[child]!, ended[child]!, ended[parent]!) &&
    includesModels(reported, child, parent)

const GATEWAY = SOURCES.indexOf('gateway')

/** An SDK sums the calls that it wrote itself, and reads the usage of a completion in the gateway's answer. */
const isOfOneSource = (child: number, parent: number): boolean =>
  parent !== 0 && parent !== GATEWAY && (child === parent || child === GATEWAY)

/** The gateway's clock is not that of an SDK's machine, so which of the two ended first says nothing; NaN is no end. */
const isInTime = (source: number, ended: number, parentEnded: number): boolean =>
  source === GATEWAY ? !Number.isNaN(ended) && !Number.isNaN(parentEnded) : ended <= parentEnded

/** Every model of the child is a model of the parent. */
const includesModels = (
  { offsets, model }: TraceColumns['reported'],
  child: number,
  parent: number,
): boolean => {
  let at = offsets[parent]!
  const end = offsets[parent + 1]!
  for (let i = offsets[child]!; i < offsets[child + 1]!; i += 1) {
    while (at < end && model[at]! < model[i]!) at += 1
    if (at === end || model[at] !== model[i]) return false
  }
  return true
}

/** A parent that counts fewer calls than itself and the children it seems to include did not sum them. */
const vetoByStatus = ({ size, parent, statusTotal }: TraceColumns, added: Uint8Array): void => {
  const counted = new Float64Array(size)
  const counting = new Uint8Array(size)
  for (let call = 0; call < size; call += 1) {
    if (added[call] === 0 || Number.isNaN(statusTotal[call])) continue
    counted[parent[call]!]! += statusTotal[call]!
    counting[parent[call]!] = 1
  }
  for (let call = 0; call < size; call += 1) {
    if (added[call] === 0) continue
    const above = parent[call]!
    if (counting[above] === 1 && statusTotal[above]! < 1 + counted[above]!) added[call] = 0
  }
}

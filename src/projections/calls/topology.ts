/** The order in which sums flow up: each call before its parent, then the calls that stand on cycles. */
export interface Topology {
  /** All calls; the first `acyclic` are not on a cycle and stand before their parents. */
  readonly order: Int32Array
  readonly acyclic: number
}

/** Peels leaves off the forest. Every call has one parent, so what cannot be peeled is exactly the cycles. */
export const topologyOf = (parent: Int32Array): Topology => {
  const size = parent.length
  const children = new Uint32Array(size)
  for (let i = 0; i < size; i += 1) if (parent[i]! >= 0) children[parent[i]!]! += 1
  const order = new Int32Array(size)
  const peeled = new Uint8Array(size)
  let count = 0
  for (let i = 0; i < size; i += 1) if (children[i] === 0) order[count++] = i
  for (let at = 0; at < count; at += 1) {
    const call = order[at]!
    peeled[call] = 1
    const above = parent[call]!
    if (above >= 0 && (children[above]! -= 1) === 0) order[count++] = above
  }
  const acyclic = count
  for (let i = 0; i < size; i += 1) if (peeled[i] === 0) order[count++] = i
  return { order, acyclic }
}

/** The cycles, each as its members. */
export const cyclesOf = (
  parent: Int32Array,
  { order, acyclic }: Topology,
): readonly (readonly number[])[] => {
  const seen = new Set<number>()
  const cycles: number[][] = []
  for (const first of order.subarray(acyclic)) {
    if (seen.has(first)) continue
    const cycle: number[] = []
    for (let call = first; !seen.has(call); call = parent[call]!) {
      seen.add(call)
      cycle.push(call)
    }
    cycles.push(cycle)
  }
  return cycles
}

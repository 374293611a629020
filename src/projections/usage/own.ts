import { FIGURES } from '../../domain/call/usage.js'
import type { Topology } from './topology.js'
import type { TraceColumns } from './trace-columns.js'

const WIDTH = FIGURES.length

/**
 * Takes out of each parent's figures what its children had added to it, key by key and never below 0. Works in place:
 * parents come before their children, so that a child's figures are still as reported when its parent gives them back.
 */
export const subtractAdded = (columns: TraceColumns, topology: Topology, added: Uint8Array): void => {
  const { parent, reported } = columns
  const { offsets, model, figures } = reported
  const gaveBack = new Uint8Array(columns.size)
  for (let at = topology.order.length - 1; at >= 0; at -= 1) {
    const child = topology.order[at]!
    if (added[child] === 0) continue
    const above = parent[child]!
    gaveBack[above] = 1
    let entry = offsets[above]!
    const end = offsets[above + 1]!
    for (let i = offsets[child]!; i < offsets[child + 1]!; i += 1) {
      while (entry < end && model[entry]! < model[i]!) entry += 1
      if (entry === end || model[entry] !== model[i]) continue
      for (let k = 0; k < WIDTH; k += 1) figures[entry * WIDTH + k]! -= figures[i * WIDTH + k]!
    }
  }
  for (let call = 0; call < columns.size; call += 1) {
    if (gaveBack[call] === 0) continue
    for (let k = offsets[call]! * WIDTH; k < offsets[call + 1]! * WIDTH; k += 1)
      if (figures[k]! < 0) figures[k] = 0
  }
}

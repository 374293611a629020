import type { UsageReporting } from '../../domain/project/events.js'
import { alreadyAdded } from './added.js'
import { mayPassExactness, ownExactly } from './exact.js'
import { usageCounting, WIDTH } from './fold.js'
import { subtractAdded } from './own.js'
import { topologyOf } from './topology.js'
import type { TraceColumns } from './trace-columns.js'

/** Six counters in the order of `COUNTERS`, in a place that is used again. */
export type Counters = ArrayLike<number | bigint>

/**
 * What each call used itself, model by model, where it has anything to say: what SDKs had added of its children is taken
 * out. Deleted calls are told too. Uses up the columns' figures.
 */
export const eachOwnEntry = (
  columns: TraceColumns,
  reporting: UsageReporting,
  tell: (call: number, model: number, counters: Counters) => void,
): void => {
  const topology = topologyOf(columns.parent)
  const added = alreadyAdded(columns, topology, reporting)
  if (mayPassExactness(columns)) {
    ownExactly(columns, added).forEach((usage, call) =>
      usage.forEach((figures, model) => {
        const counters = usageCounting.foldExactly(figures)
        if (counters.some((counter) => counter !== 0n)) tell(call, model, counters)
      }),
    )
    return
  }
  subtractAdded(columns, topology, added)
  const { offsets, model, figures } = columns.reported
  const counters = new Float64Array(WIDTH)
  for (let call = 0; call < columns.size; call += 1)
    for (let entry = offsets[call]!; entry < offsets[call + 1]!; entry += 1)
      if (usageCounting.fold(figures, entry, counters, 0)) tell(call, model[entry]!, counters)
}

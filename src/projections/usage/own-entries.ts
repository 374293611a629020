import { chargedTokens } from '../../domain/price/charged-tokens.js'
import type { Exact } from '../../domain/price/exact.js'
import type { UsageReporting } from '../../domain/project/events.js'
import { yielding } from '../../yield-to-event-loop.js'
import { alreadyAdded } from './added.js'
import { mayPassExactness, ownExactly } from './exact.js'
import { BILLED_WIDTH, billInto, usageCounting, WIDTH } from './fold.js'
import { subtractAdded } from './own.js'
import { topologyOf } from './topology.js'
import type { TraceColumns } from './trace-columns.js'

/** Whole numbers in a place that is used again. */
export type Counted = ArrayLike<Exact>

/** What a call used itself of a model. */
export interface OwnEntry {
  readonly call: number
  readonly model: number
  /** In the order of `COUNTERS`. */
  readonly counters: Counted
  /** Tokens that are charged: of prompt, completion, cache reading and cache creation. */
  readonly tokens: Counted
}

/**
 * What each call used itself, model by model, where it has anything to say: what SDKs had added of its children is taken
 * out. Deleted calls are told too. Uses up the columns' figures.
 */
export const eachOwnEntry = async (
  columns: TraceColumns,
  reporting: UsageReporting,
  tell: (entry: OwnEntry) => void,
): Promise<void> => {
  const yieldNow = yielding()
  const topology = topologyOf(columns.parent)
  const added = alreadyAdded(columns, topology, reporting)
  if (mayPassExactness(columns)) {
    for (const [call, usage] of (await ownExactly(columns, added)).entries()) {
      await yieldNow()
      usage.forEach((figures, model) => {
        const counters = usageCounting.foldExactly(figures)
        if (counters.some((counter) => counter !== 0n))
          tell({ call, model, counters, tokens: chargedTokens(figures) })
      })
    }
    return
  }
  subtractAdded(columns, topology, added)
  const { offsets, model, figures } = columns.reported
  const counters = new Float64Array(WIDTH)
  const tokens = new Float64Array(BILLED_WIDTH)
  for (let call = 0; call < columns.size; call += 1) {
    if (call % 64 === 0) await yieldNow()
    for (let entry = offsets[call]!; entry < offsets[call + 1]!; entry += 1)
      if (usageCounting.fold(figures, entry, counters, 0)) {
        billInto(figures, entry, tokens, 0)
        tell({ call, model: model[entry]!, counters, tokens })
      }
  }
}

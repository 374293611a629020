import type { UsageReporting } from '../../domain/project/events.js'
import { yielding } from '../../yield-to-event-loop.js'
import type { PriceBook } from '../prices/book.js'
import { chargedTokens, chargesOf, type Charge } from './charges.js'
import { EntryBudget, inclusiveUsage, type UsageByKey } from './inclusive-usage.js'
import { ownUsage } from './own-usage.js'
import type { TraceCalls } from './trace.js'

/** A selected call with the usage of itself and all its descendants. */
export interface AnsweredCall {
  readonly id: string
  readonly isUnfinished: boolean
  /** By an index of `charges`. */
  readonly usage: UsageByKey
  readonly charges: readonly Charge[]
}

export interface UsageAnswer {
  readonly calls: readonly AnsweredCall[]
  /** Number of matching calls beyond the limit. */
  readonly truncatedCount: number
  readonly unfinishedDescendants: number
  /** The models without a price that used tokens in the calls or their descendants, sorted. Empty without costs. */
  readonly unpricedModels: readonly string[]
}

/** Collects the answer from the selected calls of some traces at a time. */
export const usageAnswer = (reporting: UsageReporting, book: PriceBook | null) => {
  const budget = new EntryBudget()
  const answered: AnsweredCall[] = []
  const unpriced = new Set<string>()
  let unfinishedDescendants = 0
  return {
    add: async (calls: TraceCalls, selected: Int32Array): Promise<void> => {
      const pause = yielding()
      const { charges, keyOf } = chargesOf(calls, book)
      const own = await ownUsage(calls, reporting)
      const inclusive = await inclusiveUsage({ calls, own, selected, keyOf, budget })
      unfinishedDescendants += inclusive.unfinishedDescendants
      for (const [n, call] of selected.entries()) {
        const usage = inclusive.usage[n]!
        answered.push({ id: calls.ids[call]!, isUnfinished: Number.isNaN(calls.ended[call]), usage, charges })
        if (book !== null) for (const model of unpricedIn(usage, charges)) unpriced.add(model)
        if (n % 64 === 0) await pause()
      }
    },
    finish: (truncatedCount: number): UsageAnswer => ({
      calls: answered,
      truncatedCount,
      unfinishedDescendants,
      unpricedModels: [...unpriced].sort(),
    }),
  }
}

function* unpricedIn(usage: UsageByKey, charges: readonly Charge[]): Generator<string> {
  for (const [key, counters] of usage)
    if (charges[key]!.costs === null && chargedTokens(counters).some(Boolean)) yield charges[key]!.model
}

import type { UsageReporting } from '../../domain/projects/project.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import type { PriceBook } from '../prices/book.js'
import { chargesOf, hasChargedTokens, type Charge } from './charges.js'
import { EntryBudget, inclusiveUsage, type UsageByKey } from './inclusive-usage.js'
import { ownUsage } from './own-usage.js'
import type { StoredAnswer } from './stored-usage.js'
import type { TraceCalls } from './trace.js'

/** A selected call with the usage of itself and all its descendants. */
export interface AnsweredCall {
  readonly id: string
  /** By an index of `charges`. */
  readonly usage: UsageByKey
  readonly charges: readonly Charge[]
}

export interface UsageAnswer {
  readonly calls: readonly AnsweredCall[]
  /** Number of matching calls beyond the limit. */
  readonly truncatedCount: number
  readonly unfinishedDescendants: number
  /** Ids of the first of the running calls, selected or below selected ones: what the usage lacks. */
  readonly unfinishedIds: ReadonlySet<string>
  readonly unfinishedCount: number
  /** The models without a price that used tokens in the calls or their descendants, sorted. Empty without costs. */
  readonly unpricedModels: readonly string[]
}

/** Bounds the memory of one answer. */
const MAX_UNFINISHED_IDS = 1_000_000

/** Collects the answer from the selected calls of some traces at a time. */
export const usageAnswer = (reporting: UsageReporting, book: PriceBook | null) => {
  const budget = new EntryBudget()
  const answered: AnsweredCall[] = []
  const unpriced = new Set<string>()
  const unfinishedIds = new Set<string>()
  let unfinishedDescendants = 0
  let unfinishedCount = 0
  const push = (call: AnsweredCall) => {
    answered.push(call)
    if (book !== null) for (const model of unpricedIn(call)) unpriced.add(model)
  }
  return {
    budget,
    add: async (calls: TraceCalls, selected: Int32Array): Promise<void> => {
      const pause = yielding()
      const own = await ownUsage(calls, reporting)
      const { charges, keyOf } = chargesOf({ started: calls.started, models: own.models }, book)
      const inclusive = await inclusiveUsage({ calls, own, selected, keyOf, budget })
      unfinishedDescendants += inclusive.unfinishedDescendants.length
      const unfinished = new Set(inclusive.unfinishedDescendants)
      for (const call of selected) if (Number.isNaN(calls.ended[call])) unfinished.add(call)
      unfinishedCount += unfinished.size
      for (const call of unfinished) {
        if (unfinishedIds.size >= MAX_UNFINISHED_IDS) break
        unfinishedIds.add(calls.ids[call]!)
      }
      for (const [n, call] of selected.entries()) {
        const usage = inclusive.usage[n]!
        push({ id: calls.ids[call]!, usage, charges })
        if (n % 64 === 0) await pause()
      }
    },
    /**
     * Adds calls with stored usage, and returns their traces. It leaves out traces in which a price changed between calls
     * whose usage is summed up.
     */
    addStored: async ({ calls, usage }: StoredAnswer): Promise<ReadonlySet<string>> => {
      const pause = yielding()
      const models = [...new Set(usage.map(({ model }) => model))]
      const indexes = new Map(models.map((model, index) => [model, index]))
      const spans = [...usage.map(({ first }) => first), ...usage.map(({ last }) => last)]
      const { charges, keyOf } = chargesOf({ started: spans, models }, book)
      const byCall = new Map<string, Map<number, readonly number[]>>()
      const repriced = new Set<string>()
      for (const [n, { id, model, counters }] of usage.entries()) {
        const key = keyOf(n, indexes.get(model)!)
        if (key !== keyOf(n + usage.length, indexes.get(model)!)) repriced.add(id)
        const ofCall = byCall.get(id) ?? new Map<number, readonly number[]>()
        const before = ofCall.get(key)
        const sums = before === undefined ? counters : counters.map((count, k) => count + before[k]!)
        byCall.set(id, ofCall.set(key, sums))
        if (n % 64 === 0) await pause()
      }
      const left = new Set(calls.flatMap(({ id, trace_id }) => (repriced.has(id) ? [trace_id] : [])))
      const added = new Set<string>()
      for (const [n, { id, trace_id }] of calls.entries()) {
        if (n % 64 === 0) await pause()
        if (left.has(trace_id)) continue
        added.add(trace_id)
        push({ id, usage: byCall.get(id) ?? NO_USAGE, charges })
      }
      return added
    },
    finish: (truncatedCount: number): UsageAnswer => ({
      calls: answered,
      truncatedCount,
      unfinishedDescendants,
      unfinishedIds,
      unfinishedCount,
      unpricedModels: [...unpriced].sort(),
    }),
  }
}

const NO_USAGE: UsageByKey = new Map()

function* unpricedIn({ usage, charges }: AnsweredCall): Generator<string> {
  for (const [key, counters] of usage)
    if (charges[key]!.costs === null && hasChargedTokens(counters)) yield charges[key]!.model
}

import { ownUsage } from './already-added.js'
import { Family } from './family.js'
import { wellFormed } from './json.js'
import type { Answer, Operation, Question } from './operations.js'
import { record } from './record.js'
import { selects } from './select.js'
import type { Started } from './started.js'
import { answered, summed } from './usage.js'

/**
 * The answer of `/trace/usage` after these operations, worked out from the rules alone and with no thought
 * of speed: the rules of docs/usage.md.
 */
export const answer = (operations: ReadonlyArray<Operation>, question: Question = {}): Answer => {
  const { calls, reporting } = record(operations)
  const visible = calls.filter(({ deleted }) => !deleted)
  const everyone = new Family(calls)
  const living = new Family(visible)

  const filter = wellFormed(question.filter ?? {})
  const matching = visible.filter((call) => selects(filter, call)).toSorted(byStart)
  const shown = matching.slice(0, question.limit ?? 10_000)

  const usageOf = (call: Started) =>
    answered(summed(living.withDescendants(call).map((member) => ownUsage(member, everyone, reporting))))

  const below = shown.flatMap((call) => living.withDescendants(call).filter((member) => member !== call))
  return {
    call_usage: Object.fromEntries(shown.map((call) => [call.id, usageOf(call)])),
    unfinished_call_ids: [...new Set([...shown, ...below].filter(unfinished).map(({ id }) => id))].toSorted(
      byBytes,
    ),
    truncated: matching.length - shown.length,
    unfinished_descendants: new Set(below.filter(unfinished)).size,
  }
}

const unfinished = (call: Started): boolean => call.end === undefined

const byStart = (a: Started, b: Started): number => {
  if (a.startedAt !== b.startedAt) return a.startedAt < b.startedAt ? -1 : 1
  return byBytes(a.id, b.id)
}

/** The order of UTF-8 bytes, which is the order of code points and not that of UTF-16. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

import PQueue from 'p-queue'
import type { ScoreRow } from '../../domain/evaluation/scoring.js'
import type { ReadyScorer } from './ports.js'

/** A scorer of a run, which never has more rows under way than it may have, and ends each within the deadline. */
export interface QueuedScorer {
  readonly name: string
  readonly ref: string
  readonly isLocal: boolean
  readonly score: ScoreRow
}

/** One scorer on one row, retries included; its score is null after that. */
const ROW_DEADLINE_MS = 10 * 60_000

export const queuedScorer = (scorer: ReadyScorer, deadlineMs = ROW_DEADLINE_MS): QueuedScorer => {
  const { name, ref, isLocal, score, reason, maxConcurrency, maxPerSecond } = scorer
  if (score === null) return { name, ref, isLocal: true, score: async () => ({ failed: reason }) }
  if (isLocal) return { name, ref, isLocal, score }
  const queue = new PQueue({
    concurrency: maxConcurrency,
    ...(maxPerSecond === null ? {} : { interval: 1000, intervalCap: maxPerSecond }),
  })
  const late = { failed: `the scorer did not answer within ${deadlineMs / 1000} seconds` }
  return {
    name,
    ref,
    isLocal,
    score: (row, context) =>
      queue.add(
        async () => {
          const deadline = AbortSignal.timeout(deadlineMs)
          const signal = AbortSignal.any([context.signal, deadline])
          const aborted = new Promise<typeof late>((resolve) => {
            signal.addEventListener('abort', () => resolve(late), { once: true })
          })
          if (context.signal.aborted) return late
          return Promise.race([score(row, { ...context, signal }), aborted])
        },
        { throwOnTimeout: true },
      ),
  }
}

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

/** Rows in a row for which a scorer was unavailable, after which a run does not ask it any more. */
const GIVE_UP_AFTER = 20

const givenUp = {
  failed: `the scorer was not asked: it was unavailable for ${GIVE_UP_AFTER} rows in a row`,
}

export const queuedScorer = (scorer: ReadyScorer, deadlineMs = ROW_DEADLINE_MS): QueuedScorer => {
  const { name, ref, isLocal, score, reason, maxConcurrency, maxPerSecond } = scorer
  if (score === null) return { name, ref, isLocal: true, score: async () => ({ failed: reason }) }
  if (isLocal) return { name, ref, isLocal, score }
  const queue = new PQueue({ concurrency: maxConcurrency, ...rateOf(maxPerSecond) })
  const late = {
    failed: `the scorer did not answer within ${deadlineMs / 1000} seconds`,
    isUnavailable: true,
  }
  let unavailable = 0
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
          if (unavailable >= GIVE_UP_AFTER) return givenUp
          const scored = await Promise.race([score(row, { ...context, signal }), aborted])
          unavailable = 'failed' in scored && scored.isUnavailable === true ? unavailable + 1 : 0
          return scored
        },
        { throwOnTimeout: true },
      ),
  }
}

/** A rate below one a second is one row in a longer interval. */
const rateOf = (perSecond: number | null) => {
  if (perSecond === null) return {}
  const intervalCap = Math.max(1, Math.floor(perSecond))
  return { intervalCap, interval: (1000 * intervalCap) / perSecond }
}

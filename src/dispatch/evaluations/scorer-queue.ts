import PQueue from 'p-queue'
import type { Scored, ScoreRow } from '../../domain/evaluations/scoring.js'
import type { ReadyScorer } from './prepare-scorer.js'

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

const givenUp = { failed: `the scorer was not asked: it was unavailable for ${GIVE_UP_AFTER} rows in a row` }

export const queuedScorer = (scorer: ReadyScorer, deadlineMs = ROW_DEADLINE_MS): QueuedScorer => {
  const { name, ref, isLocal, score, reason, maxConcurrency, maxPerSecond } = scorer
  if (score === null) return { name, ref, isLocal: true, score: async () => ({ failed: reason }) }
  if (isLocal) return { name, ref, isLocal, score }
  const queue = new PQueue({ concurrency: maxConcurrency, ...rateOf(maxPerSecond) })
  const late: Scored = {
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
          if (context.signal.aborted) return late
          if (unavailable >= GIVE_UP_AFTER) return givenUp
          const scored = await beforeDeadline(context.signal, deadlineMs, late, (signal) =>
            score(row, { ...context, signal }),
          )
          unavailable = 'failed' in scored && scored.isUnavailable === true ? unavailable + 1 : 0
          return scored
        },
        { throwOnTimeout: true },
      ),
  }
}

/** Timer and listener end with the task: a run has many rows, and one signal. */
const beforeDeadline = async <A>(
  outer: AbortSignal,
  deadlineMs: number,
  late: A,
  task: (signal: AbortSignal) => Promise<A>,
): Promise<A> => {
  if (outer.aborted) return late
  const abort = new AbortController()
  let onAbort: () => void = () => undefined
  const aborted = new Promise<A>((resolve) => {
    onAbort = () => {
      abort.abort(outer.reason)
      resolve(late)
    }
  })
  outer.addEventListener('abort', onAbort, { once: true })
  const timer = setTimeout(onAbort, deadlineMs)
  try {
    return await Promise.race([task(abort.signal), aborted])
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', onAbort)
  }
}

/** A rate below one a second is one row in a longer interval. */
const rateOf = (perSecond: number | null) => {
  if (perSecond === null) return {}
  const intervalCap = Math.max(1, Math.floor(perSecond))
  return { intervalCap, interval: (1000 * intervalCap) / perSecond }
}

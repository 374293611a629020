import PQueue from 'p-queue'
import type { Scored, ScoreRow } from '../../domain/evaluation/scoring.js'
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
  const late: Scored = { failed: `the scorer did not answer within ${deadlineMs / 1000} seconds` }
  return {
    name,
    ref,
    isLocal,
    score: (row, context) =>
      queue.add(
        () =>
          beforeDeadline(context.signal, deadlineMs, late, (signal) => score(row, { ...context, signal })),
        {
          throwOnTimeout: true,
        },
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

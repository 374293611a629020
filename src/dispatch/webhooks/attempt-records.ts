import type { AttemptRecord, AttemptRecords } from '../../kernel/ports/attempt-records.js'
import type { Log } from '../../kernel/ports/log.js'

/** Stores the records of attempts in batches, for 90 days. They are not vital: a failed write is logged. */
export interface AttemptRecordWriter {
  readonly keep: (attempt: AttemptRecord) => void
  /** Deletes some of the expired records. */
  readonly prune: (now: number) => void
  readonly close: () => Promise<void>
}

const KEEP_MS = 90 * 24 * 3600 * 1000
const PRUNE_AT_ONCE = 1000
/** Measured: batches of a second block the event loop for 2 ms; batches of sixteen cost 14 % of the rate. */
const GATHER_MS = 100
/** More are dropped while a write takes its time. */
const MOST_GATHERED = 10_000

export const attemptRecordWriter = (
  records: AttemptRecords,
  log: Pick<Log, 'error'>,
): AttemptRecordWriter => {
  const gathered: AttemptRecord[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  const tried = async (task: () => unknown) => {
    try {
      await task()
    } catch (error) {
      log.error('dispatcher.attempt_record_failed', {
        error: error instanceof Error ? error.name : 'unknown',
      })
    }
  }
  const write = async () => {
    timer = undefined
    await writing
    const attempts = gathered.splice(0)
    if (attempts.length === 0) return
    writing = tried(() => records.put(attempts))
    await writing
  }
  return {
    keep: (attempt) => {
      if (gathered.length >= MOST_GATHERED) return
      gathered.push(attempt)
      timer ??= setTimeout(() => void write(), GATHER_MS)
    },
    prune: (now) => void tried(() => records.prune(now - KEEP_MS, PRUNE_AT_ONCE)),
    close: async () => {
      clearTimeout(timer)
      await write()
      records.close()
    },
  }
}

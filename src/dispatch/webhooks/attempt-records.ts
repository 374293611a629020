import type { AttemptRecord, AttemptRecords } from '../../kernel/ports/attempt-records.js'
import type { Log } from '../../kernel/ports/log.js'

/** Stores the records of attempts in batches, for 90 days. They are not vital: a failed write is logged. */
export interface AttemptRecordWriter {
  readonly keep: (attempt: AttemptRecord) => void
  /** Deletes some of the expired records. */
  readonly prune: (now: number) => void
  readonly close: () => void
}

const KEEP_MS = 90 * 24 * 3600 * 1000
const PRUNE_AT_ONCE = 1000
/** Measured: batches of a second block the event loop for 2 ms; batches of sixteen cost 14 % of the rate. */
const GATHER_MS = 100

export const attemptRecordWriter = (
  records: AttemptRecords,
  log: Pick<Log, 'error'>,
): AttemptRecordWriter => {
  const gathered: AttemptRecord[] = []
  let writing: NodeJS.Timeout | undefined
  const tried = (task: () => unknown) => {
    try {
      task()
    } catch (error) {
      log.error('dispatcher.attempt_record_failed', {
        error: error instanceof Error ? error.name : 'unknown',
      })
    }
  }
  const write = () => {
    clearTimeout(writing)
    writing = undefined
    const attempts = gathered.splice(0)
    if (attempts.length > 0) tried(() => records.put(attempts))
  }
  return {
    keep: (attempt) => {
      gathered.push(attempt)
      writing ??= setTimeout(write, GATHER_MS)
    },
    prune: (now) => tried(() => records.prune(now - KEEP_MS, PRUNE_AT_ONCE)),
    close: () => {
      write()
      records.close()
    },
  }
}

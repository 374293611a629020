import type { AttemptRecord, AttemptRecords } from '../../domain/ports/attempt-records.js'
import type { Log } from '../../domain/ports/log.js'

/** Gathers what attempts looked like, and keeps it for 90 days. What cannot be kept is let go: nothing waits for it. */
export interface RecordKeeping {
  readonly keep: (attempt: AttemptRecord) => void
  /** Writes what was gathered, and deletes what is too old, some of it at a time. */
  readonly turn: (now: number) => void
  readonly close: () => void
}

const KEEP_MS = 90 * 24 * 3600 * 1000
const PRUNE_AT_ONCE = 1000

export const keepingRecords = (records: AttemptRecords, log: Pick<Log, 'error'>): RecordKeeping => {
  const gathered: AttemptRecord[] = []
  const tried = (task: () => unknown) => {
    try {
      task()
    } catch (error) {
      log.error('dispatcher.attempts_not_kept', { error: error instanceof Error ? error.name : 'unknown' })
    }
  }
  const write = () => {
    const attempts = gathered.splice(0)
    if (attempts.length > 0) tried(() => records.put(attempts))
  }
  return {
    keep: (attempt) => void gathered.push(attempt),
    turn: (now) => {
      write()
      tried(() => records.prune(now - KEEP_MS, PRUNE_AT_ONCE))
    },
    close: () => {
      write()
      records.close()
    },
  }
}

import type { AttemptRecord, AttemptRecords } from '../../domain/ports/attempt-records.js'

/** Gathers what attempts looked like, and keeps it for 90 days. */
export interface RecordKeeping {
  readonly keep: (attempt: AttemptRecord) => void
  /** Writes what was gathered, and deletes what is too old, some of it at a time. */
  readonly turn: (now: number) => void
  readonly close: () => void
}

const KEEP_MS = 90 * 24 * 3600 * 1000
const PRUNE_AT_ONCE = 1000

export const keepingRecords = (records: AttemptRecords): RecordKeeping => {
  const gathered: AttemptRecord[] = []
  const write = () => {
    if (gathered.length > 0) records.put(gathered.splice(0))
  }
  return {
    keep: (attempt) => void gathered.push(attempt),
    turn: (now) => {
      write()
      records.prune(now - KEEP_MS, PRUNE_AT_ONCE)
    },
    close: () => {
      write()
      records.close()
    },
  }
}

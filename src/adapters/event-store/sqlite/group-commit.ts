import type { Database } from 'better-sqlite3'
import type { Appended, NewEvent } from '../../../domain/ports/event-store.js'
import { StoreUnavailable } from '../../../domain/ports/event-store-errors.js'
import type { CommitSignal } from '../commit-signal.js'
import type { Append, AppendWriter } from './append-writer.js'
import type { RecentEvents } from './recent-events.js'

export interface QueuedAppend extends Append {
  readonly given: readonly NewEvent[]
  readonly bytes: number
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: Error) => void
}

export interface GroupCommit {
  queue(append: QueuedAppend): void
  /** Commits what is queued, now. */
  flush(): void
}

/** A group holds up the event loop while it is written: these bound for how long. */
const GROUP_EVENTS = 512
const GROUP_BYTES = 1_048_576

/**
 * Writes what was queued in one turn of the event loop as one transaction, with one fsync. Each append stands
 * for itself: a conflict leaves the others alone, and no promise settles before COMMIT has returned.
 */
export const groupCommit = (
  db: Database,
  writer: AppendWriter,
  commits: CommitSignal,
  recent: RecentEvents,
): GroupCommit => {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const queued: QueuedAppend[] = []

  const rollBack = () => {
    try {
      // After some errors SQLite has rolled back by itself.
      if (db.inTransaction) rollback.run()
    } catch {
      // The next BEGIN fails then, and its group comes here to roll back again.
    }
  }

  const write = (group: readonly QueuedAppend[]) => {
    const before = writer.head()
    const recordedAt = Date.now()
    try {
      begin.run()
      const outcomes = group.map((append) => written(writer, append, recordedAt))
      commit.run()
      for (const outcome of outcomes) keep(recent, outcome, recordedAt)
      settle(group, outcomes)
    } catch (cause) {
      rollBack()
      writer.rewind(before)
      const unavailable = new StoreUnavailable('the event store could not write', { cause })
      for (const { reject } of group) reject(unavailable)
    }
    if (writer.head() !== before) commits.announce()
  }

  const writeGroup = () => {
    const group = queued.splice(0, sizeOfGroup(queued))
    if (queued.length > 0) setImmediate(writeGroup)
    if (group.length > 0) write(group)
  }

  return {
    queue: (append) => {
      if (queued.push(append) === 1) setImmediate(writeGroup)
    },
    flush: () => {
      while (queued.length > 0) write(queued.splice(0, sizeOfGroup(queued)))
    },
  }
}

/** At least one append, however large. */
const sizeOfGroup = (queued: readonly QueuedAppend[]): number => {
  let events = 0
  let bytes = 0
  const end = queued.findIndex((append) => {
    events += append.events.length
    bytes += append.bytes
    return events > GROUP_EVENTS || bytes > GROUP_BYTES
  })
  return end === -1 ? queued.length : Math.max(end, 1)
}

interface Written {
  readonly append: QueuedAppend
  readonly outcome: ReturnType<AppendWriter['write']>
  /** The head before; a repeat and a conflict leave it where it was. */
  readonly after: number
  readonly head: number
}

const written = (writer: AppendWriter, append: QueuedAppend, recordedAt: number): Written => {
  const after = writer.head()
  const outcome = writer.write(append, recordedAt)
  return { append, outcome, after, head: writer.head() }
}

const keep = (recent: RecentEvents, { append, outcome, after, head }: Written, recordedAt: number): void => {
  if (head === after || outcome instanceof Error) return
  const { stream, given, events } = append
  const firstRevision = outcome.revision - BigInt(given.length - 1)
  given.forEach(({ id, type, data, metadata }, index) => {
    const revision = firstRevision + BigInt(index)
    const position = BigInt(after + 1 + index)
    const written = events[index]!
    const size = written.data.length + written.metadata.length
    recent.add({
      id,
      type,
      data,
      metadata,
      stream,
      revision,
      position,
      recordedAt: new Date(recordedAt),
      size,
    })
  })
}

const settle = (group: readonly QueuedAppend[], outcomes: readonly Written[]): void => {
  group.forEach(({ resolve, reject }, index) => {
    const outcome = outcomes[index]?.outcome
    if (outcome instanceof Error) reject(outcome)
    else if (outcome !== undefined) resolve(outcome)
  })
}

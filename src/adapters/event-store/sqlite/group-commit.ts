import { setImmediate } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import type { Appended, NewEvent } from '../../../kernel/ports/event-store.js'
import { AppendOutcomeUnknown, StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import type { HealthReports } from '../../../kernel/ports/health.js'
import type { CommitSignal } from '../commit-signal.js'
import type { Append, AppendWriter } from './append-writer.js'
import type { RecentEvents } from './recent-events.js'
import type { SerialisedAppend } from '../serialise.js'

export interface QueuedAppend extends Append {
  readonly given: readonly NewEvent[]
  readonly bytes: number
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: Error) => void
}

export interface GroupCommit {
  queue(append: QueuedAppend): void
  /** The position of the last event that is on the disk; what stands behind it nobody may see. */
  readonly durable: () => number
  /** @throws StoreUnavailable after a sync failed, or when the files were moved or deleted */
  requireWritable(): void
  /** @throws StoreUnavailable when no append can be written now */
  checkWritable(): void
  /** Resolves when nothing is queued any more. */
  finished(): Promise<void>
}

/** What groups are written with. */
export interface Committing {
  readonly db: Database
  readonly writer: AppendWriter
  /** @throws StoreUnavailable when what is written would not be found again */
  readonly requireInPlace: () => void
  /** Writes as many bytes to a file of their own, and deletes it. */
  readonly tryRoom: (bytes: number) => void
  /** Resolves once all that was committed is on the disk. */
  readonly sync: () => Promise<void>
  readonly commits: CommitSignal
  readonly recent: RecentEvents
  readonly health: HealthReports
}

/**
 * Writes what was queued in a few transactions and syncs them in the background, while the next group gathers: one sync a
 * group. Each append stands for itself: a conflict leaves the others alone, and no promise settles before the sync is
 * done. The next group is written only then, so that it is decided on events that are on the disk.
 */
export const groupCommit = ({
  db,
  writer,
  requireInPlace,
  tryRoom,
  sync,
  commits,
  recent,
  health,
}: Committing): GroupCommit => {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  let queued: QueuedAppend[] = []
  let durable = writer.head()
  let working: Promise<void> | undefined
  let failure: StoreUnavailable | undefined
  /** What the last group that failed would have written; 0 after one that succeeded. */
  let unwritten = 0

  const rollBack = () => {
    try {
      // After some errors SQLite has rolled back by itself.
      if (db.inTransaction) rollback.run()
    } catch {
      // The next BEGIN fails then, and its group comes here to roll back again.
    }
  }

  const requireWritable = () => {
    if (failure !== undefined) throw failure
    requireInPlace()
  }

  /**
   * Sets the layout's version to what it is, which writes one page and no event. It is not synced: a sync reports an error
   * once, and it must reach the appends that it concerns. One page may fit where what failed before does not.
   */
  const checkWritable = () => {
    requireWritable()
    try {
      begin.run()
      db.pragma(`user_version = ${Number(db.pragma('user_version', { simple: true }))}`)
      commit.run()
      if (unwritten > 0) tryRoom(unwritten)
    } catch (cause) {
      rollBack()
      throw new StoreUnavailable('the event store failed to write', { cause })
    }
  }

  const write = (part: readonly QueuedAppend[], recordedAt: number): readonly Written[] => {
    const before = writer.head()
    try {
      begin.run()
      const outcomes = part.map((append) => written(writer, append, recordedAt))
      commit.run()
      unwritten = 0
      return outcomes
    } catch (cause) {
      rollBack()
      unwritten = PAGES_OF_A_GROUP + part.reduce((sum, { bytes }) => sum + bytes, 0)
      writer.rewind(before)
      throw new StoreUnavailable('the event store failed to write', { cause })
    }
  }

  /** The event loop has a turn between two parts. An error ends the group, but what was written before it stays. */
  const writeParts = async (group: readonly QueuedAppend[], recordedAt: number) => {
    const outcomes: Written[] = []
    try {
      while (outcomes.length < group.length) {
        if (outcomes.length > 0) await setImmediate()
        const left = group.slice(outcomes.length)
        outcomes.push(...write(left.slice(0, countWithin(left, PART)), recordedAt))
      }
      return { outcomes }
    } catch (error) {
      return { outcomes, error: error as Error }
    }
  }

  /** After a sync that failed nobody knows what the disk holds: only a start can tell. */
  const synced = async () => {
    try {
      await sync()
    } catch (cause) {
      failure = new StoreUnavailable('the event store failed to sync; restart the service', { cause })
      throw new AppendOutcomeUnknown('the event store failed to sync', { cause })
    }
  }

  const writeGroup = async (group: readonly QueuedAppend[]) => {
    const recordedAt = Date.now()
    try {
      requireWritable()
      const { outcomes, error } = await writeParts(group, recordedAt)
      const grown = writer.head() !== durable
      if (grown) await synced()
      durable = writer.head()
      for (const outcome of outcomes) keep(recent, outcome, recordedAt)
      settle(group, outcomes)
      if (grown) commits.announce()
      if (error !== undefined) throw error
      health.report('event-log-writes', null)
    } catch (error) {
      health.report('event-log-writes', error)
      for (const { reject } of group) reject(error as Error)
    }
  }

  /** Each group begins after a turn of the event loop, so that all that came in it shares the sync. */
  const writeAll = async () => {
    while (queued.length > 0) {
      await setImmediate()
      const group = queued.slice(0, countWithin(queued, GROUP))
      queued = queued.slice(group.length)
      await writeGroup(group)
    }
    working = undefined
  }

  return {
    queue: (append) => {
      queued.push(append)
      working ??= writeAll()
    },
    durable: () => durable,
    requireWritable,
    checkWritable,
    finished: async () => working,
  }
}

/** Pages of tables and indexes that even a small append writes. */
const PAGES_OF_A_GROUP = 16 * 16_384

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
    const at = new Date(recordedAt)
    recent.add({ id, type, data, metadata, stream, revision, position, recordedAt: at, size }, written)
  })
}

const settle = (group: readonly QueuedAppend[], outcomes: readonly Written[]): void => {
  group.forEach(({ resolve, reject }, index) => {
    const outcome = outcomes[index]?.outcome
    if (outcome instanceof Error) reject(outcome)
    else if (outcome !== undefined) resolve(outcome)
  })
}

interface Bounds {
  readonly events: number
  readonly bytes: number
}

/** Shares one sync. */
const GROUP: Bounds = { events: 512, bytes: 1_048_576 }
/** One transaction, which holds up the event loop for about 3 ms. */
const PART: Bounds = { events: 128, bytes: 262_144 }

/** How many of the appends are within the bounds: at least one, however large. */
const countWithin = (appends: readonly SerialisedAppend[], most: Bounds): number => {
  let events = 0
  let bytes = 0
  const end = appends.findIndex((append) => {
    events += append.events.length
    bytes += append.bytes
    return events > most.events || bytes > most.bytes
  })
  return end === -1 ? appends.length : Math.max(end, 1)
}

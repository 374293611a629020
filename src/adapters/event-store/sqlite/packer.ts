import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import type { HealthReports } from '../../../kernel/ports/health.js'
import type { CommitSignal } from '../commit-signal.js'
import type { GroupCommit } from './group-commit.js'
import { pack, type EventBytes } from './pack.js'
import { IS_INDEXED_TYPE } from './schema.js'
import type { Sealer } from './sealer.js'

export interface Packing {
  /** The last positions of the log, which are not packed: followers and reads of recent events cost nothing. */
  readonly newest: number
  /** The most events of a pack. */
  readonly events: number
  /** Kept for new events. A file with more free pages gives some back to the disk. */
  readonly freePages: number
  /** A pause takes this many times as long as the work before it, while events are appended. */
  readonly rest: number
  /** The same when no event was appended during the last pause. */
  readonly quietRest: number
  /** The pause after the first commit when there was nothing to do. */
  readonly idleMs: number
  /** Called from time to time while events of an earlier release get their seals: no event after this position lacks one. */
  readonly onSealing?: (upTo: number) => void
}

/** Measured at 330 appends a second: with a rest of 20 their p99 is 1.7 times as long, with 100 about the same. */
export const PACKING: Packing = {
  newest: 8192,
  events: 128,
  freePages: 2048,
  rest: 100,
  quietRest: 20,
  idleMs: 1000,
}

export interface Packer {
  /** Resolves when it writes no more. */
  stop(): Promise<void>
}

interface PackedStore {
  readonly db: Database
  readonly group: Pick<GroupCommit, 'durable' | 'requireWritable'>
  readonly commits: Pick<CommitSignal, 'count' | 'after'>
  readonly health: HealthReports
  readonly sealer: Sealer
  /** Changes when events are erased. */
  readonly erasures: () => number
}

const PACK_BYTES = 131_072
const FREED_AT_ONCE = 32
const TELL_EVERY_MS = 10_000

/**
 * Packs older events in the background, each pack in one transaction, and seals those of earlier releases. Events of types that have an index stay in their
 * rows, because reading some of them would unpack as many packs.
 */
export const startPacker = (
  { db, group, commits, health, sealer, erasures }: PackedStore,
  { newest, events: most, freePages, rest, quietRest, idleMs, onSealing }: Packing,
): Packer => {
  const stopping = new AbortController()
  const select = db
    .prepare<[number, number, number], [position: number, data: Buffer | null, metadata: Buffer]>(
      `SELECT position, iif(${IS_INDEXED_TYPE}, NULL, CAST(data AS BLOB)), CAST(metadata AS BLOB)
       FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?`,
    )
    .raw()
  const write = packWriter(db)
  const canShrink = db.pragma('auto_vacuum', { simple: true }) === 2
  let after = db.prepare<[], number>('SELECT coalesce(max(last), 0) FROM packs').pluck().get()!

  /** The events to pack up to a position, which may be none; undefined until there are enough rows. */
  const next = (): { readonly events: readonly EventBytes[]; readonly upTo: number } | undefined => {
    const events: EventBytes[] = []
    let [rows, bytes, upTo] = [0, 0, after]
    for (const [position, data, metadata] of select.iterate(after, group.durable() - newest, most)) {
      if (data !== null) {
        bytes += data.length + metadata.length
        if (events.length > 0 && bytes > PACK_BYTES) return { events, upTo }
        events.push({ position, data, metadata })
      }
      rows += 1
      upTo = position
    }
    return rows === most ? { events, upTo } : undefined
  }

  const giveBack = (): boolean => {
    if (!canShrink || Number(db.pragma('freelist_count', { simple: true })) <= freePages) return false
    db.pragma(`incremental_vacuum(${FREED_AT_ONCE})`)
    return true
  }

  let toldAt = -Infinity
  const sealSome = (): boolean => {
    const isMore = sealer.step()
    if (isMore && (sealer.upTo() === 0 || performance.now() - toldAt > TELL_EVERY_MS)) {
      toldAt = performance.now()
      onSealing?.(sealer.upTo())
    }
    return isMore
  }

  /** Whether there may be more to do. */
  const work = async (): Promise<boolean> => {
    group.requireWritable()
    const isSealing = sealSome()
    const found = next()
    if (found === undefined) return giveBack() || isSealing
    const erasuresBefore = erasures()
    const texts = found.events.length > 0 ? await pack(found.events) : undefined
    // One of the events may have been erased while they were packed.
    if (erasures() !== erasuresBefore) return true
    if (texts !== undefined) write(found.events, texts)
    after = found.upTo
    return true
  }

  const run = async () => {
    let head = group.durable()
    for (let pauseMs = idleMs; ; head = group.durable()) {
      await sleep(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
      if (stopping.signal.aborted) return
      const start = performance.now()
      const factor = group.durable() === head ? quietRest : rest
      const seen = commits.count()
      try {
        const isMore = await work()
        pauseMs = isMore ? (performance.now() - start) * factor : idleMs
        health.report('event-log-packs', null)
        if (!isMore) await commits.after(seen, stopping.signal)
      } catch (cause) {
        pauseMs = idleMs
        const error = new StoreUnavailable('the event log failed to pack older events', { cause })
        health.report('event-log-packs', error)
      }
    }
  }

  const running = run()
  return {
    stop: () => {
      stopping.abort()
      return running
    },
  }
}

/** Moves the texts of events into a pack. */
const packWriter = (db: Database) => {
  const insert = db.prepare('INSERT INTO packs (last, first, texts) VALUES (?, ?, ?)')
  // Setting the position makes SQLite delete and insert each row. An update in place would free no pages.
  const empty = db.prepare(
    `UPDATE events SET position = position, data = '', metadata = ''
     WHERE position BETWEEN ? AND ? AND NOT ${IS_INDEXED_TYPE}`,
  )
  const write = db.transaction((events: readonly EventBytes[], texts: Buffer) => {
    const [first, last] = [events[0]!.position, events.at(-1)!.position]
    insert.run(last, first, texts)
    empty.run(first, last)
  })
  return (events: readonly EventBytes[], texts: Buffer): void => write.immediate(events, texts)
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { BlobStore } from '../../domain/ports/blobs.js'
import type { EventStore, Position } from '../../domain/ports/event-store.js'
import type { Log } from '../../domain/ports/log.js'
import type { ClickHouseWriter } from '../../domain/ports/clickhouse.js'
import type { Projection } from '../projection.js'
import { countQuarantined, readCheckpoint, writeCheckpoint, writeQuarantine } from './checkpoint.js'
import { deferred, type Deferred } from './deferred.js'
import { errorName, reasonOf } from './error-name.js'
import { followLog } from './follow-log.js'
import { gathering, type Batch } from './gathering.js'
import { progressFrom } from './progress.js'
import { writeRows } from './write-rows.js'

/** The read side's clock: how far the rows are, and how to wait for them. */
export interface Projector {
  /** Where it went on from: 0 where there were no rows yet. */
  readonly startedAt: Position
  /** The last log position whose rows can be read. */
  reached(): Position
  /** Waits until a position can be read, hurrying the next insert; false if that takes longer. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean>
  /**
   * Milliseconds for which the oldest event that is not readable yet has waited here; 0 when there is none, and while
   * inserts fail: waiting for them would help nobody.
   */
  lagMs(): number
  /** True after the next insert or its failure, false if none comes within the time given. */
  nextInsert(timeoutMs: number): Promise<boolean>
  quarantined(): number
  /** Another text each time that the tables were exchanged for others. */
  generation(): string
  /** Between two batches: resolves when no rows are on their way, and none will be until it is released. */
  hold(): Promise<Held>
  /** What keeps the next insert from succeeding; undefined while nothing does. */
  failing(): string | undefined
  stop(): Promise<void>
}

export interface Held {
  /** Where the rows stand meanwhile. */
  readonly position: Position
  /** `exchanged`: the tables are others than before. */
  readonly release: (exchanged: boolean) => Promise<void>
}

export interface Projecting {
  readonly eventStore: Pick<EventStore, 'subscribeAll'>
  readonly blobs: BlobStore
  readonly clickHouse: ClickHouseWriter
  readonly projections: readonly Projection[]
  readonly log: Log
  /** How often the checkpoint is written at most, {@link CHECKPOINT_MS} if it is read only at the next start. */
  readonly checkpointMs?: number
  /** How long a batch waits for company, {@link GATHER_MS} where readers in the same process can hurry it. */
  readonly gatherMs?: number
}

/**
 * A batch waits this long for company unless it is full or somebody waits for it: many small inserts cost the engine
 * far more than few large ones, and again when it merges what they left.
 */
const GATHER_MS = 500

/** The checkpoint is written this often: after a crash the rows since then are written again, and are the same rows. */
const CHECKPOINT_MS = 1000
const RETRY_MS = [100, 300, 1000, 2000]
/** A failure that lasts is logged at first and then about once a minute. */
const LOG_EVERY = 30

/** Follows the log from the checkpoint: gathers events, inserts their rows, then records how far it came. */
export const startProjector = async (projecting: Projecting): Promise<Projector> => {
  const { eventStore, clickHouse, log, checkpointMs = CHECKPOINT_MS, gatherMs = GATHER_MS } = projecting
  const stopping = new AbortController()
  const now = () => performance.now()
  const gathered = gathering(now)
  const progress = progressFrom(await readCheckpoint(clickHouse), gathered.announce)
  const startedAt = progress.reached()
  let quarantined = await countQuarantined(clickHouse)
  let inserting: Batch | undefined
  let inserted = deferred()
  let caughtUp = false
  let generation = 0
  let failing: string | undefined
  let checkpointAt = now()
  let lastRead = progress.reached()
  let holding: { readonly standing: Deferred; readonly released: Deferred } | undefined

  const read = async () => {
    for await (const item of eventStore.subscribeAll({
      after: lastRead,
      signal: stopping.signal,
    })) {
      if (item.kind === 'caughtUp') caughtUp = true
      if (item.kind !== 'event') continue
      gathered.add(item.event)
      lastRead = item.event.position
      while (gathered.isFull() && !stopping.signal.aborted) await gathered.change()
    }
  }

  const write = async () => {
    while (!stopping.signal.aborted) {
      if (holding !== undefined) {
        holding.standing.resolve()
        await holding.released.promise
        continue
      }
      const since = gathered.since()
      const remaining = since === undefined ? Infinity : since + gatherMs - now()
      const due = gathered.isFull() || progress.someoneWaits() || remaining <= 0
      if (since !== undefined && due) await insert(gathered.take())
      else await changeOr(remaining)
    }
  }

  const changeOr = async (milliseconds: number) => {
    if (milliseconds === Infinity) return gathered.change()
    const timer = new AbortController()
    const timeout = sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined)
    await Promise.race([gathered.change(), timeout])
    timer.abort()
  }

  const insert = async (batch: Batch) => {
    inserting = batch
    for (let tries = 0; !stopping.signal.aborted; tries += 1) {
      try {
        await insertOnce(batch)
        if (failing !== undefined) log.info('projection.resumed', { events: batch.events.length, tries })
        failing = undefined
        break
      } catch (error) {
        failing = reasonOf(error)
        letWritersGo()
        if (tries < RETRY_MS.length || tries % LOG_EVERY === 0)
          log.error('projection.insert_failed', { error: errorName(error), reason: failing, tries })
        await sleep(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)], undefined, {
          signal: stopping.signal,
        }).catch(() => undefined)
      }
    }
    inserting = undefined
    letWritersGo()
  }

  const letWritersGo = () => {
    const waiting = inserted
    inserted = deferred()
    waiting.resolve()
  }

  const insertOnce = async ({ events }: Batch) => {
    const refused = await writeRows(projecting, events)
    if (refused.length > 0) {
      await writeQuarantine(clickHouse, refused)
      quarantined = await countQuarantined(clickHouse)
      for (const { event, reason } of refused)
        log.error('projection.event_quarantined', {
          position: String(event.position),
          type: event.type,
          reason,
        })
    }
    const position = events.at(-1)?.position
    if (position === undefined) return
    if (now() - checkpointAt >= checkpointMs) await checkpoint(position)
    progress.advance(position)
  }

  const checkpoint = async (position: Position) => {
    await writeCheckpoint(clickHouse, position)
    checkpointAt = now()
  }

  const following = followLog(read, stopping.signal, log)
  const writing = write()

  return {
    startedAt,
    reached: progress.reached,
    waitFor: (position, timeoutMs) => progress.wait(position, timeoutMs),
    lagMs: () => {
      const since = inserting?.since ?? gathered.since()
      return failing === undefined && caughtUp && since !== undefined ? now() - since : 0
    },
    nextInsert: (timeoutMs) =>
      Promise.race([inserted.promise.then(() => true), sleep(timeoutMs, false, { ref: false })]),
    quarantined: () => quarantined,
    generation: () => String(generation),
    hold: async () => {
      const mine = { standing: deferred(), released: deferred() }
      holding = mine
      gathered.announce()
      await mine.standing.promise
      return {
        position: progress.reached(),
        release: async (exchanged) => {
          if (exchanged) generation += 1
          quarantined = await countQuarantined(clickHouse).catch(() => quarantined)
          holding = undefined
          mine.released.resolve()
        },
      }
    },
    failing: () => failing,
    stop: async () => {
      stopping.abort()
      gathered.announce()
      holding?.standing.resolve()
      holding?.released.resolve()
      await Promise.all([following, writing])
      await checkpoint(progress.reached()).catch(() => undefined)
    },
  }
}

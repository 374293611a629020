import { setTimeout as sleep } from 'node:timers/promises'
import type { Position, RecordedEvent } from '../../domain/ports/event-store.js'
import { followLog } from '../../runtime/follow-log.js'
import { batchWriter } from './batch-writer.js'
import { readCheckpoint } from './checkpoint.js'
import { errorName } from './error-name.js'
import { gathering, type Batch } from './gathering.js'
import { progressFrom } from './progress.js'
import type { Projecting } from './projecting.js'
import { standstill } from './standstill.js'

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
  /** Events that were read from the log and cannot be read here yet; more may wait in the log. */
  behind(): number
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

/**
 * A batch waits this long for company unless it is full or somebody waits for it: many small inserts cost the engine
 * far more than few large ones, and again when it merges what they left.
 */
const GATHER_MS = 500

/** Follows the log from the checkpoint: gathers events, inserts their rows, then records how far it came. */
export const startProjector = async (projecting: Projecting): Promise<Projector> => {
  const { eventStore, clickHouse, log, gatherMs = GATHER_MS } = projecting
  const stopping = new AbortController()
  const { signal } = stopping
  const now = () => performance.now()
  const writer = await batchWriter(projecting, signal)
  const gathered = gathering(now)
  const standing = standstill()
  const startedAt = await readCheckpoint(clickHouse)
  const progress = progressFrom(startedAt, gathered.announce)
  let inserting: Batch | undefined
  let caughtUp = false
  let generation = 0

  const write = async () => {
    while (!stopping.signal.aborted) {
      const since = gathered.since()
      const remaining = since === undefined ? Infinity : since + gatherMs - now()
      const due = gathered.isFull() || progress.someoneWaits() || remaining <= 0
      if (standing.isAsked()) await standing.stand()
      else if (since !== undefined && due) await insert(gathered.take())
      else if (since === undefined && follower.position() > progress.reached())
        await writeUpTo(follower.position(), [])
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
    await writeUpTo(batch.events.at(-1)?.position ?? progress.reached(), batch.events)
    inserting = undefined
  }

  const writeUpTo = async (position: Position, events: readonly RecordedEvent[]) => {
    if (await writer.write(events, position)) progress.advance(position)
  }

  const waitForRoom = async () => {
    while (gathered.isFull() && !signal.aborted) await gathered.change()
  }
  const follower = followLog({
    eventStore,
    after: startedAt,
    onEvent: (event) => {
      gathered.add(event)
      return gathered.isFull() ? waitForRoom() : undefined
    },
    onCheckpoint: () => {
      if (gathered.isEmpty()) gathered.announce()
    },
    onCaughtUp: () => void (caughtUp = true),
    onError: (error) => log.error('projection.subscription_failed', { error: errorName(error) }),
    signal,
  })
  const writing = write()

  return {
    startedAt,
    reached: progress.reached,
    waitFor: (position, timeoutMs) => progress.wait(position, timeoutMs),
    lagMs: () => {
      const since = inserting?.since ?? gathered.since()
      return writer.failing() === undefined && caughtUp && since !== undefined ? now() - since : 0
    },
    behind: () => gathered.count() + (inserting?.events.length ?? 0),
    nextInsert: writer.nextOutcome,
    quarantined: writer.quarantined,
    generation: () => String(generation),
    hold: async () => {
      const asked = standing.ask()
      gathered.announce()
      const goOn = await asked
      return {
        position: progress.reached(),
        release: async (exchanged) => {
          if (exchanged) generation += 1
          await writer.recount()
          goOn()
        },
      }
    },
    failing: writer.failing,
    stop: async () => {
      stopping.abort()
      gathered.announce()
      standing.end()
      await Promise.all([follower.stopped, writing])
      await writer.checkpoint(progress.reached()).catch(() => undefined)
    },
  }
}

import { ClickHouseUnavailable } from '../../kernel/ports/clickhouse.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { retry } from '../../kernel/backoff.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { followLog } from '../../kernel/follow-log.js'
import { within } from '../../kernel/within.js'
import { lossesOf, readCheckpoint } from './checkpoint.js'
import { errorName } from './error-name.js'
import { eventTimes, positionByTime } from './event-times.js'
import {
  BACKOFF,
  checkpoint,
  CHECKPOINT_MS,
  insertUntilTaken,
  type InsertState,
  type ProjectorOptions,
} from './inserting.js'
import { Lane, sizeOf, teamOf } from './lane.js'
import { notifier } from './notifier.js'
import { countQuarantined } from './quarantine.js'
import { columnsOf } from './table-note.js'
import { reachedPosition } from './reached-position.js'
import { unreadSince } from './unread.js'

export interface Projector {
  /** The position it continued from: 0 where the tables were empty. */
  readonly startedAt: Position
  /** The last log position whose rows can be read; of a team, the last whose rows of this team can be read. */
  readonly reached: (team?: string) => Position
  /** The last log position whose rows can be read; 0 before the first rows of this log. */
  readonly projected: () => Position
  /** Waits until a position can be read, and has the next batch inserted at once; false if it takes longer. */
  readonly waitFor: (position: Position, timeoutMs: number, team?: string) => Promise<boolean>
  /**
   * Age in ms of the oldest event that is not yet inserted, of all teams or in the lane of one, or that is not yet read from
   * the log. 0 while inserts fail, so that writes are not paced against a broken engine.
   */
  readonly lagMs: (team?: string) => number
  /** Events that were read from the log and are not inserted yet. */
  readonly behind: () => number
  /** True after the next insert or its failure, false if none comes in time or before the abort. */
  readonly nextInsert: (timeoutMs: number, signal?: AbortSignal) => Promise<boolean>
  /** The position of the last inserted event that was recorded no later than a time, 0 where there is none. */
  readonly lastBy: (time: Instant) => Promise<Position>
  readonly quarantined: () => number
  /** Changes when the tables are exchanged. */
  readonly generation: () => string
  /** Why inserts fail now. */
  readonly failing: () => string | undefined
  /** What the tables have lost since the last checkpoint, in words. */
  readonly losses: () => Promise<readonly string[]>
  /**
   * Stops inserting, lets `exchange` replace the tables, and continues from the checkpoint that it then finds. Readers
   * keep waiting meanwhile.
   */
  readonly whileStopped: (exchange: (reached: Position) => Promise<void>) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Many small inserts cost the engine more than few large ones, and again when it merges their parts. */
const GATHER_MS = 500
/** Under load the inserts that readers wait for take at most half of the time, so that they get larger. */
const LOAD_EVENTS = 100
const MAX_PAUSE_MS = 100
/** Characters of a team's events that are read and not inserted, beyond which the team is busy. */
const MAX_QUIET_CHARACTERS = 2 * 1024 * 1024
/** Follows the log from the checkpoint: gathers events into batches, inserts their rows, and notes the checkpoint. */
export const startProjector = async (options: ProjectorOptions): Promise<Projector> => {
  const { clickHouse } = options
  const { position: startedAt, anchor, noted } = await readCheckpoint(clickHouse)
  const stopping = new AbortController()
  const wake = notifier()
  const state: InsertState = {
    reached: reachedPosition(startedAt, wake.notify),
    quietReached: reachedPosition(startedAt, wake.notify),
    wake,
    inserted: notifier(),
    quarantined: await countQuarantined(clickHouse),
    failing: undefined,
    checkpointAt: performance.now(),
    checkpoint: Promise.resolve(),
    anchor,
    noted: noted ?? { columns: await columnsOf(clickHouse), blocks: {} },
    times: eventTimes(),
  }
  const { reached, quietReached, inserted } = state
  let generation = 0
  let run = startRun(options, state, startedAt)

  return {
    startedAt,
    reached: (team) => (team === undefined ? reached.get() : run.reachedOf(team)),
    projected: () => (state.anchor === undefined ? 0n : reached.get()),
    waitFor: async (position, timeoutMs, team) => {
      if (team === undefined) return reached.waitFor(position, timeoutMs)
      const isRead = await quietReached.waitFor(position, timeoutMs)
      return isRead && run.isBusy(team) ? reached.waitFor(position, timeoutMs) : isRead
    },
    lagMs: (team) => (state.failing === undefined ? run.lagMs(team) : 0),
    behind: () => run.behind(),
    nextInsert: async (timeoutMs, signal) => {
      const next = inserted.next().then(() => true)
      return (await within(timeoutMs, next, { signal })) ?? false
    },
    lastBy: async (time) => state.times.lastBy(time) ?? positionByTime(clickHouse)(time),
    quarantined: () => state.quarantined,
    generation: () => String(generation),
    failing: () => state.failing,
    losses: async () => {
      if (state.anchor === undefined) return []
      try {
        const losses = await lossesOf(clickHouse, options.eventStore)
        const { anchor } = await readCheckpoint(clickHouse)
        return anchor === undefined ? [...losses, 'rows of checkpoints are missing'] : losses
      } catch (error) {
        if (!(error instanceof ClickHouseUnavailable) || error.why !== 'damaged') throw error
        return [error.message]
      }
    },
    whileStopped: async (exchange) => {
      await run.stop()
      try {
        await exchange(reached.get())
      } finally {
        const again = () => !stopping.signal.aborted
        const { position, anchor, noted } = await retry(() => readCheckpoint(clickHouse), again, {
          ...BACKOFF,
          signal: stopping.signal,
        })
        state.quarantined = await countQuarantined(clickHouse).catch(() => state.quarantined)
        generation += 1
        state.anchor = anchor
        state.noted = noted ?? { columns: await columnsOf(clickHouse), blocks: {} }
        state.times = eventTimes()
        quietReached.reset(position)
        reached.reset(position)
        if (!stopping.signal.aborted) run = startRun(options, state, position)
      }
    },
    stop: async () => {
      stopping.abort()
      await run.stop()
    },
  }
}

/**
 * One subscription with two insert loops, so that reads of teams that write little do not wait for the rows of one that
 * writes much. The events of a team keep their order.
 */
const startRun = (options: ProjectorOptions, state: InsertState, after: Position) => {
  const { eventStore, log, gatherMs = GATHER_MS } = options
  const { reached, quietReached, wake } = state
  const stopping = new AbortController()
  const { signal } = stopping
  const quiet = new Lane()
  const busy = new Lane()
  let read = after
  /** Rows of the quiet lane up to here are inserted before more of the busy lane. */
  let busySince = after
  let isCaughtUp = false
  const unreadMs = unreadSince(eventStore)

  const isBusy = (team: string) => busy.charactersOf(team) > 0
  const add = (event: RecordedEvent): Lane => {
    const team = teamOf(event)
    const isOver = team !== '' && quiet.charactersOf(team) + sizeOf(event) > MAX_QUIET_CHARACTERS
    if (isOver && !isBusy(team)) busySince = read
    const lane = isOver || isBusy(team) ? busy : quiet
    lane.add(event)
    read = event.position
    state.times.add(event)
    return lane
  }
  const advance = () => {
    const until = (lane: Lane) => (lane.first()?.position ?? read + 1n) - 1n
    quietReached.advance(until(quiet))
    reached.advance(until(quiet) < until(busy) ? until(quiet) : until(busy))
  }
  /** A reader of a position that is not read yet gains nothing from an insert of what precedes it. */
  const isAwaited = () => quietReached.isAwaited(read) || reached.isAwaited(read)
  const holdsUpBusy = () => (quiet.first()?.position ?? Infinity) <= busySince

  const follower = followLog({
    eventStore,
    after,
    withUnreadable: true,
    onEvent: (event) => {
      const lane = add(event)
      advance()
      if (lane.length() > 1 && !lane.hasBatch() && lane.hasRoom() && !isAwaited()) return undefined
      wake.notify()
      return lane.hasRoom() ? undefined : room(lane)
    },
    onCheckpoint: (position) => {
      read = position
      advance()
      const { checkpointMs = CHECKPOINT_MS } = options
      if (performance.now() - state.checkpointAt < checkpointMs || reached.get() < position) return
      // After a crash, many events that are not for the service would be read again.
      state.checkpointAt = performance.now()
      void checkpoint(options, state).catch(() => undefined)
    },
    onCaughtUp: () => void (isCaughtUp = true),
    onError: (error) => log.error('projection.subscription_failed', { error: errorName(error) }),
    signal,
  })
  const room = async (lane: Lane) => {
    while (!lane.hasRoom() && !signal.aborted) await wake.next()
  }

  const insertFrom = async (lane: Lane, isWanted: () => boolean, mayInsert: () => boolean) => {
    let pausedUntil = 0
    while (!signal.aborted) {
      const gatheredAt = lane.pendingSince() + gatherMs
      const dueAt = isWanted() && lane.length() > 0 ? Math.min(pausedUntil, gatheredAt) : gatheredAt
      const waitMs = dueAt - performance.now()
      const isDue = lane.hasBatch() || waitMs <= 0
      if (waitMs === Infinity || !isDue || !mayInsert()) {
        await within(mayInsert() ? waitMs : Infinity, wake.next(), { ref: true })
        continue
      }
      const events = lane.take()
      wake.notify()
      const began = performance.now()
      await insertUntilTaken(options, state, events, signal, () => {
        lane.inserted()
        advance()
        wake.notify()
      })
      const ended = performance.now()
      if (events.length > LOAD_EVENTS) pausedUntil = ended + Math.min(ended - began, MAX_PAUSE_MS)
    }
  }
  const ended = [
    insertFrom(
      quiet,
      () => isAwaited() || holdsUpBusy(),
      () => true,
    ),
    insertFrom(
      busy,
      () => reached.isAwaited(read),
      () => !holdsUpBusy(),
    ),
  ]

  return {
    isBusy,
    /** Never goes back when a team becomes busy. */
    reachedOf: (team: string): Position => {
      const quietUntil = quietReached.get()
      const first = busy.firstOf(team)?.position
      return first === undefined || first > quietUntil ? quietUntil : first - 1n
    },
    lagMs: (team?: string) => {
      const busySince = team === undefined || isBusy(team) ? busy.since() : Infinity
      const since = Math.min(busySince, quiet.since())
      const uninsertedMs = since === Infinity ? 0 : performance.now() - since
      return isCaughtUp ? Math.max(uninsertedMs, unreadMs(read)) : 0
    },
    behind: () => quiet.length() + busy.length(),
    stop: async () => {
      stopping.abort()
      wake.notify()
      await Promise.all([follower.stopped, ...ended])
      await checkpoint(options, state).catch(() => undefined)
    },
  }
}

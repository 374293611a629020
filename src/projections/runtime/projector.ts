import { ClickHouseUnavailable } from '../../kernel/ports/clickhouse.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import { backoff, retry } from '../../kernel/backoff.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { followLog, type LogAnchor } from '../../kernel/follow-log.js'
import { within } from '../../kernel/within.js'
import {
  claimDatabase,
  DatabaseTaken,
  isClaimedTwice,
  lossesOf,
  readCheckpoint,
  writeCheckpoint,
} from './checkpoint.js'
import { errorName, reasonOf } from './error-name.js'
import { eventTimes, positionByTime, type EventTimes } from './event-times.js'
import { insertOrQuarantine, type InsertOptions } from './insert-batch.js'
import { Lane, sizeOf, teamOf } from './lane.js'
import { notifier, type Notifier } from './notifier.js'
import { countQuarantined } from './quarantine.js'
import { blocksOf, columnsOf, lostRows, type TableNote } from './table-note.js'
import { reachedPosition, type ReachedPosition } from './reached-position.js'
import { unreadSince } from './unread.js'

export interface ProjectorOptions extends InsertOptions {
  readonly eventStore: Pick<EventStore, 'subscribeAll' | 'readStream' | 'head'>
  readonly log: Log
  /** The least time between two checkpoints: after a crash the rows since the last one are inserted again. */
  readonly checkpointMs?: number
  /** How long a batch waits for more events, unless it is full or a reader waits for it. */
  readonly gatherMs?: number
  /** How long a claim of an empty database waits for those of others; 0 where no one else can have it. */
  readonly claimMs?: number
  /** Called when tables were found to have lost something: then no checkpoint is written. */
  readonly onLoss?: () => void
}

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
const CHECKPOINT_MS = 1000
const BACKOFF = { firstMs: 100, maxMs: 2000 }
/** Under load the inserts that readers wait for take at most half of the time, so that they get larger. */
const LOAD_EVENTS = 100
const MAX_PAUSE_MS = 100
/** Characters of a team's events that are read and not inserted, beyond which the team is busy. */
const MAX_QUIET_CHARACTERS = 2 * 1024 * 1024
/** A failure that lasts is logged these first times and then about once a minute. */
const LOG_FIRST = 4
const LOG_EVERY = 30

/** Follows the log from the checkpoint: gathers events into batches, inserts their rows, and notes the checkpoint. */
export const startProjector = async (options: ProjectorOptions): Promise<Projector> => {
  const { clickHouse } = options
  const { position: startedAt, anchor, noted } = await readCheckpoint(clickHouse)
  const stopping = new AbortController()
  const wake = notifier()
  const state: State = {
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

/** What outlives a subscription. */
interface State {
  readonly reached: ReachedPosition
  /** In the lane of the quiet teams. */
  readonly quietReached: ReachedPosition
  /** Wakes the insert loop and the subscription. */
  readonly wake: Notifier
  /** After each insert or its failure. */
  readonly inserted: Notifier
  quarantined: number
  failing: string | undefined
  checkpointAt: number
  /** Settles when the last one that was begun is written. */
  checkpoint: Promise<void>
  /** The last event that was inserted. */
  anchor: LogAnchor | undefined
  /** With the last checkpoint. */
  noted: TableNote
  times: EventTimes
}

/**
 * One subscription with two insert loops, so that reads of teams that write little do not wait for the rows of one that
 * writes much. The events of a team keep their order.
 */
const startRun = (options: ProjectorOptions, state: State, after: Position) => {
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

/** Retries until the rows are inserted, or it is stopped. */
const insertUntilTaken = async (
  options: ProjectorOptions,
  state: State,
  events: readonly RecordedEvent[],
  signal: AbortSignal,
  onInserted: () => void,
): Promise<void> => {
  const { clickHouse, eventStore, log, checkpointMs = CHECKPOINT_MS, claimMs } = options
  for (let tries = 0; !signal.aborted; tries += 1)
    try {
      const [first] = events
      if (state.anchor === undefined && first !== undefined)
        await claimDatabase(clickHouse, eventStore, first, claimMs)
      if ((await insertOrQuarantine(options, events)) > 0)
        state.quarantined = await countQuarantined(clickHouse)
      state.anchor = events.at(-1) ?? state.anchor
      onInserted()
      if (performance.now() - state.checkpointAt >= checkpointMs) await checkpoint(options, state)
      if (state.failing !== undefined) log.info('projection.resumed', { events: events.length, tries })
      state.failing = undefined
      state.inserted.notify()
      return
    } catch (error) {
      state.failing = reasonOf(error)
      if (error instanceof DatabaseTaken) {
        state.quietReached.reset(0n)
        state.reached.reset(0n)
      } else options.onLoss?.()
      state.inserted.notify()
      if (tries < LOG_FIRST || tries % LOG_EVERY === 0)
        log.error('projection.insert_failed', { error: errorName(error), reason: state.failing, tries })
      await backoff(tries + 1, { ...BACKOFF, signal })
    }
  state.inserted.notify()
}

/** Checkpoints are written one after the other. */
const checkpoint = (options: ProjectorOptions, state: State): Promise<void> => {
  const write = async () => {
    if (state.anchor === undefined) return
    const { clickHouse, eventStore, claimMs = 0, onLoss } = options
    const position = state.reached.get()
    await state.times.insert(clickHouse)
    const isTakenBack = claimMs > 0 && (await isClaimedTwice(clickHouse, eventStore))
    const blocks = await blocksOf(clickHouse)
    if (isTakenBack || lostRows(state.noted.blocks, blocks).length > 0) return onLoss?.()
    state.noted = { ...state.noted, blocks }
    await writeCheckpoint(clickHouse, position, state.anchor, state.noted)
    state.checkpointAt = performance.now()
  }
  const written = state.checkpoint.then(write)
  state.checkpoint = written.catch(() => undefined)
  return written
}

import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import { backoff, retry } from '../../kernel/backoff.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { followLog, type LogAnchor } from '../../kernel/follow-log.js'
import { entityOf } from '../../kernel/ids.js'
import { within } from '../../kernel/within.js'
import { claimDatabase, readCheckpoint, writeCheckpoint } from './checkpoint.js'
import { errorName, reasonOf } from './error-name.js'
import { eventTimes, positionByTime, type EventTimes } from './event-times.js'
import { insertOrQuarantine, MAX_BATCH, sizeOf, type InsertOptions } from './insert-batch.js'
import { notifier, type Notifier } from './notifier.js'
import { countQuarantined } from './quarantine.js'
import { reachedPosition, type ReachedPosition } from './reached-position.js'

export interface ProjectorOptions extends InsertOptions {
  readonly eventStore: Pick<EventStore, 'subscribeAll' | 'readStream'>
  readonly log: Log
  /** The least time between two checkpoints: after a crash the rows since the last one are inserted again. */
  readonly checkpointMs?: number
  /** How long a batch waits for more events, unless it is full or a reader waits for it. */
  readonly gatherMs?: number
}

export interface Projector {
  /** The position it continued from: 0 where the tables were empty. */
  readonly startedAt: Position
  /** The last log position whose rows can be read. */
  readonly reached: () => Position
  /** Waits until a position can be read, and has the next batch inserted at once; false if it takes longer. */
  readonly waitFor: (position: Position, timeoutMs: number) => Promise<boolean>
  /**
   * Age in ms of the oldest event not yet inserted. 0 while inserts fail, so that writes are not paced against a broken
   * engine.
   */
  readonly lagMs: () => number
  /** Whether a team has less than the average team of what was read and is not inserted yet. */
  readonly isLight: (team: string) => boolean
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
/** A failure that lasts is logged these first times and then about once a minute. */
const LOG_FIRST = 4
const LOG_EVERY = 30

/** Follows the log from the checkpoint: gathers events into batches, inserts their rows, and notes the checkpoint. */
export const startProjector = async (options: ProjectorOptions): Promise<Projector> => {
  const { clickHouse } = options
  const { position: startedAt, anchor } = await readCheckpoint(clickHouse)
  const stopping = new AbortController()
  const wake = notifier()
  const state: State = {
    reached: reachedPosition(startedAt, wake.notify),
    wake,
    inserted: notifier(),
    quarantined: await countQuarantined(clickHouse),
    failing: undefined,
    checkpointAt: performance.now(),
    anchor,
    times: eventTimes(),
  }
  const { reached, inserted } = state
  let generation = 0
  let run = startRun(options, state, startedAt)

  return {
    startedAt,
    reached: reached.get,
    waitFor: reached.waitFor,
    lagMs: () => (state.failing === undefined ? run.lagMs() : 0),
    isLight: (team) => run.isLight(team),
    behind: () => run.behind(),
    nextInsert: async (timeoutMs, signal) => {
      const next = inserted.next().then(() => true)
      return (await within(timeoutMs, next, { signal })) ?? false
    },
    lastBy: async (time) => state.times.lastBy(time) ?? positionByTime(clickHouse)(time),
    quarantined: () => state.quarantined,
    generation: () => String(generation),
    failing: () => state.failing,
    whileStopped: async (exchange) => {
      await run.stop()
      try {
        await exchange(reached.get())
      } finally {
        const again = () => !stopping.signal.aborted
        const { position, anchor } = await retry(() => readCheckpoint(clickHouse), again, {
          ...BACKOFF,
          signal: stopping.signal,
        })
        state.quarantined = await countQuarantined(clickHouse).catch(() => state.quarantined)
        generation += 1
        state.anchor = anchor
        state.times = eventTimes()
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
  /** Wakes the insert loop and the subscription. */
  readonly wake: Notifier
  /** After each insert or its failure. */
  readonly inserted: Notifier
  quarantined: number
  failing: string | undefined
  checkpointAt: number
  /** The last event that was inserted. */
  anchor: LogAnchor | undefined
  times: EventTimes
}

interface Batch {
  readonly events: RecordedEvent[]
  characters: number
  readonly charactersOf: Map<string, number>
  /** When its first event arrived. */
  since: number
}

const emptyBatch = (): Batch => ({ events: [], characters: 0, charactersOf: new Map(), since: Infinity })

const addTo = (batch: Batch, event: RecordedEvent): void => {
  const { project_id } = event.data
  const team = typeof project_id === 'string' ? entityOf(project_id) : ''
  const characters = sizeOf(event)
  batch.events.push(event)
  batch.characters += characters
  batch.charactersOf.set(team, (batch.charactersOf.get(team) ?? 0) + characters)
  if (batch.events.length === 1) batch.since = performance.now()
}

/** One subscription with its insert loop. It reads on while rows are inserted, up to one batch ahead. */
const startRun = (options: ProjectorOptions, state: State, after: Position) => {
  const { eventStore, log, gatherMs = GATHER_MS } = options
  const { reached, wake } = state
  const stopping = new AbortController()
  const { signal } = stopping
  let pending = emptyBatch()
  let inserting = emptyBatch()
  let isCaughtUp = false

  const isFull = () => pending.events.length >= MAX_BATCH.events || pending.characters >= MAX_BATCH.characters
  const room = async () => {
    while (isFull() && !signal.aborted) await wake.next()
  }

  const follower = followLog({
    eventStore,
    after,
    onEvent: (event) => {
      addTo(pending, event)
      if (pending.events.length > 1 && !isFull()) return undefined
      wake.notify()
      return isFull() ? room() : undefined
    },
    onCheckpoint: () => {
      if (pending.events.length === 0) wake.notify()
    },
    onCaughtUp: () => void (isCaughtUp = true),
    onError: (error) => log.error('projection.subscription_failed', { error: errorName(error) }),
    signal,
  })

  const insertBatches = async () => {
    while (!signal.aborted) {
      const waitMs = pending.since + gatherMs - performance.now()
      const isDue = isFull() || reached.isAwaited() || waitMs <= 0
      const isEmpty = pending.events.length === 0
      if (isEmpty ? follower.position() <= reached.get() : !isDue) {
        await within(waitMs, wake.next(), { ref: true })
        continue
      }
      inserting = pending
      pending = emptyBatch()
      wake.notify()
      // Without events the position advanced past events that are not ours.
      const position = inserting.events.at(-1)?.position ?? follower.position()
      await insertUntilTaken(options, state, inserting.events, position, signal)
      inserting = emptyBatch()
    }
  }
  const ended = insertBatches()

  return {
    lagMs: () => {
      const since = Math.min(inserting.since, pending.since)
      return isCaughtUp && since !== Infinity ? performance.now() - since : 0
    },
    isLight: (team: string) => {
      const own = (pending.charactersOf.get(team) ?? 0) + (inserting.charactersOf.get(team) ?? 0)
      const teams = new Set([...pending.charactersOf.keys(), ...inserting.charactersOf.keys()])
      return own * teams.size < pending.characters + inserting.characters || own === 0
    },
    behind: () => pending.events.length + inserting.events.length,
    stop: async () => {
      stopping.abort()
      wake.notify()
      await Promise.all([follower.stopped, ended])
      await checkpoint(options, state, reached.get()).catch(() => undefined)
    },
  }
}

/** Retries until the rows are inserted, or it is stopped. */
const insertUntilTaken = async (
  options: ProjectorOptions,
  state: State,
  events: readonly RecordedEvent[],
  position: Position,
  signal: AbortSignal,
): Promise<void> => {
  const { clickHouse, eventStore, log, checkpointMs = CHECKPOINT_MS } = options
  for (let tries = 0; !signal.aborted; tries += 1)
    try {
      const [first] = events
      if (state.anchor === undefined && first !== undefined)
        await claimDatabase(clickHouse, eventStore, first)
      if ((await insertOrQuarantine(options, events)) > 0)
        state.quarantined = await countQuarantined(clickHouse)
      state.anchor = events.at(-1) ?? state.anchor
      state.times.add(events)
      state.reached.advance(position)
      if (performance.now() - state.checkpointAt >= checkpointMs) await checkpoint(options, state, position)
      if (state.failing !== undefined) log.info('projection.resumed', { events: events.length, tries })
      state.failing = undefined
      state.inserted.notify()
      return
    } catch (error) {
      state.failing = reasonOf(error)
      state.inserted.notify()
      if (tries < LOG_FIRST || tries % LOG_EVERY === 0)
        log.error('projection.insert_failed', { error: errorName(error), reason: state.failing, tries })
      await backoff(tries + 1, { ...BACKOFF, signal })
    }
  state.inserted.notify()
}

const checkpoint = async ({ clickHouse }: ProjectorOptions, state: State, position: Position) => {
  if (state.anchor === undefined) return
  await state.times.insert(clickHouse)
  await writeCheckpoint(clickHouse, position, state.anchor)
  state.checkpointAt = performance.now()
}

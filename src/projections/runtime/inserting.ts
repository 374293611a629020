import { backoff } from '../../kernel/backoff.js'
import type { LogAnchor } from '../../kernel/follow-log.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import { claimDatabase, DatabaseTaken, isClaimedTwice, writeCheckpoint } from './checkpoint.js'
import { errorName, reasonOf } from './error-name.js'
import type { EventTimes } from './event-times.js'
import { insertOrQuarantine, type InsertOptions } from './insert-batch.js'
import type { Notifier } from './notifier.js'
import { countQuarantined } from './quarantine.js'
import type { ReachedPosition } from './reached-position.js'
import { blocksOf, lostRows, type TableNote } from './table-note.js'

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

/** What outlives a subscription. */
export interface InsertState {
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

export const CHECKPOINT_MS = 1000
export const BACKOFF = { firstMs: 100, maxMs: 2000 }
/** A failure that lasts is logged these first times and then about once a minute. */
const LOG_FIRST = 4
const LOG_EVERY = 30

/** Retries until the rows are inserted, or it is stopped. */
export const insertUntilTaken = async (
  options: ProjectorOptions,
  state: InsertState,
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
export const checkpoint = (options: ProjectorOptions, state: InsertState): Promise<void> => {
  const write = async () => {
    if (state.anchor === undefined) return
    const { clickHouse, eventStore, claimMs = 0, onLoss } = options
    const position = state.reached.get()
    await state.times.insert(clickHouse)
    const isTakenBack = claimMs > 0 && (await isClaimedTwice(clickHouse, eventStore))
    const blocks = await blocksOf(clickHouse)
    if (isTakenBack || (blocks && lostRows(state.noted.blocks, blocks).length > 0)) return onLoss?.()
    state.noted = { ...state.noted, blocks: blocks ?? {} }
    await writeCheckpoint(clickHouse, position, state.anchor, state.noted)
    state.checkpointAt = performance.now()
  }
  const written = state.checkpoint.then(write)
  state.checkpoint = written.catch(() => undefined)
  return written
}

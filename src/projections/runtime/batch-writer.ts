import { backoff } from '../../runtime/backoff.js'
import { within } from '../../runtime/within.js'
import type { Position, RecordedEvent } from '../../domain/ports/event-store.js'
import { countQuarantined, writeCheckpoint, writeQuarantine } from './checkpoint.js'
import { deferred } from './deferred.js'
import { errorName, reasonOf } from './error-name.js'
import type { Projecting } from './projecting.js'
import { writeRows } from './write-rows.js'

/** Writes batches of events as rows, until they are taken, and how far the rows are. */
export interface BatchWriter {
  /**
   * True once the rows are there, the refused events are set aside, and it is recorded how far the rows are, if that was
   * not done a moment ago; false if it was stopped before.
   */
  readonly write: (events: readonly RecordedEvent[], position: Position) => Promise<boolean>
  readonly checkpoint: (position: Position) => Promise<void>
  /** True after the next batch or its failure, false if none comes within the time given. */
  readonly nextOutcome: (timeoutMs: number) => Promise<boolean>
  /** Why the rows of the present batch are not taken; undefined while they are. */
  readonly failing: () => string | undefined
  readonly quarantined: () => number
  /** Counts again what is set aside, where the tables may be others. */
  readonly recount: () => Promise<void>
}

/** The checkpoint is written this often: after a crash the rows since then are written again, and are the same rows. */
const CHECKPOINT_MS = 1000
const BACKOFF = { firstMs: 100, maxMs: 2000 }
const LOG_FIRST = 4
/** A failure that lasts is logged at first and then about once a minute. */
const LOG_EVERY = 30

export const batchWriter = async (projecting: Projecting, signal: AbortSignal): Promise<BatchWriter> => {
  const { clickHouse, log, checkpointMs = CHECKPOINT_MS, noteSource } = projecting
  let quarantined = await countQuarantined(clickHouse)
  let isSourceNoted = noteSource === undefined
  let failing: string | undefined
  let outcome = deferred()
  let checkpointAt = performance.now()

  const announce = () => {
    const waiting = outcome
    outcome = deferred()
    waiting.resolve()
  }

  const checkpoint = async (position: Position) => {
    if (!isSourceNoted) return
    await writeCheckpoint(clickHouse, position)
    checkpointAt = performance.now()
  }

  const writeOnce = async (events: readonly RecordedEvent[]) => {
    const refused = await writeRows(projecting, events)
    if (refused.length === 0) return
    await writeQuarantine(clickHouse, refused)
    quarantined = await countQuarantined(clickHouse)
    for (const { event, reason } of refused)
      log.error('projection.event_quarantined', {
        position: String(event.position),
        type: event.type,
        reason,
      })
  }

  const failed = async (error: unknown, tries: number) => {
    failing = reasonOf(error)
    announce()
    if (tries < LOG_FIRST || tries % LOG_EVERY === 0)
      log.error('projection.insert_failed', { error: errorName(error), reason: failing, tries })
    await backoff(tries + 1, { ...BACKOFF, signal })
  }

  return {
    checkpoint,
    write: async (events, position) => {
      for (let tries = 0; !signal.aborted; tries += 1) {
        try {
          isSourceNoted ||= (await noteSource?.()) ?? true
          await writeOnce(events)
          if (performance.now() - checkpointAt >= checkpointMs) await checkpoint(position)
          if (failing !== undefined) log.info('projection.resumed', { events: events.length, tries })
          failing = undefined
          announce()
          return true
        } catch (error) {
          await failed(error, tries)
        }
      }
      announce()
      return false
    },
    nextOutcome: (timeoutMs) =>
      within(
        timeoutMs,
        outcome.promise.then(() => true),
      ).then((done) => done ?? false),
    failing: () => failing,
    quarantined: () => quarantined,
    recount: async () => {
      quarantined = await countQuarantined(clickHouse).catch(() => quarantined)
    },
  }
}

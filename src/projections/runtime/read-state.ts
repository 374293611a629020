import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { EventStore, Position } from '../../domain/ports/event-store.js'
import type { Log } from '../../domain/ports/log.js'
import { within } from '../../runtime/within.js'
import { countQuarantined, readCheckpoint } from './checkpoint.js'
import { errorName } from './error-name.js'
import { sourceLogMismatch } from './log-identity.js'
import { notifier } from './notifier.js'
import { reachedPosition } from './reached-position.js'

/** The read models as a process sees them whose projector is another process: up to the checkpoint. */
export interface ReadState {
  readonly reached: () => Position
  readonly waitFor: (position: Position, timeoutMs: number) => Promise<boolean>
  readonly quarantined: () => number
  readonly generation: () => string
  /** Set while the database is filled from another log; nothing can be read then. */
  readonly failing: () => string | undefined
  readonly stop: () => Promise<void>
}

/** Milliseconds between two polls, while a reader waits and while none does. */
const WAITED_FOR_MS = 50
const IDLE_MS = 1000

export const followReadState = async (
  reader: Pick<ClickHouseReader, 'query'>,
  eventStore: Pick<EventStore, 'readAll' | 'head'>,
  log: Pick<Log, 'warn'>,
): Promise<ReadState> => {
  const wake = notifier()
  const reached = reachedPosition(await readCheckpoint(reader), wake.notify)
  let quarantined = await countQuarantined(reader)
  let generation = await readGeneration(reader)
  let checkedGeneration: string | undefined
  let mismatch: string | undefined
  let isFailing = false
  let isStopped = false

  /** The database may have been empty at the start, or been dropped and filled by another deployment since. */
  const checkSource = async () => {
    if (checkedGeneration === generation && mismatch === undefined) return
    const source = await sourceLogMismatch(reader, eventStore)
    mismatch = source.mismatch && `the ClickHouse database is in use: ${source.mismatch.reason}`
    if (source.isNoted) checkedGeneration = generation
  }

  const poll = async () => {
    try {
      // First: a checkpoint of exchanged tables must not be read under the generation before.
      generation = await readGeneration(reader)
      await checkSource()
      if (mismatch === undefined) reached.advance(await readCheckpoint(reader))
      quarantined = await countQuarantined(reader)
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn('checkpoint.read_failed', { error: errorName(error) })
      isFailing = true
    }
  }

  const follow = async () => {
    while (!isStopped) {
      const next = wake.next()
      await poll()
      if (reached.isAwaited()) await sleep(WAITED_FOR_MS)
      else await within(IDLE_MS, next)
    }
  }
  const following = follow()

  return {
    reached: () => (mismatch === undefined ? reached.get() : 0n),
    waitFor: async (position, timeoutMs) => mismatch === undefined && reached.waitFor(position, timeoutMs),
    quarantined: () => quarantined,
    generation: () => generation,
    failing: () => mismatch,
    stop: () => {
      isStopped = true
      wake.notify()
      return following
    },
  }
}

/** The identity of the table that a rebuild exchanges last: once it has changed, all tables have. */
const readGeneration = async (reader: Pick<ClickHouseReader, 'query'>): Promise<string> => {
  const [row] = await reader.query<{ identity: string }>(
    "SELECT toString(uuid) AS identity FROM system.tables WHERE database = currentDatabase() AND name = 'checkpoints'",
  )
  return row?.identity ?? ''
}

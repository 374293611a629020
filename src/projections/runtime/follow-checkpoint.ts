import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { EventStore, Position } from '../../domain/ports/event-store.js'
import type { Log } from '../../domain/ports/log.js'
import { countQuarantined, readCheckpoint } from './checkpoint.js'
import { deferred } from './deferred.js'
import { errorName } from './error-name.js'
import { sourceLogMismatch } from './log-identity.js'
import { progressFrom } from './progress.js'

/** The read side as a process sees it whose projector is another process: as far as the checkpoint says. */
export interface FollowedCheckpoint {
  reached(): Position
  waitFor(position: Position, timeoutMs: number): Promise<boolean>
  quarantined(): number
  generation(): string
  /** Set while the database is filled from another log; nothing can be read then. */
  failing(): string | undefined
  stop(): Promise<void>
}

/** Milliseconds between two looks, while somebody waits and while nobody does. */
const HURRIED_MS = 50
const UNHURRIED_MS = 1000

export const followCheckpoint = async (
  reader: Pick<ClickHouseReader, 'query'>,
  eventStore: Pick<EventStore, 'readAll' | 'head'>,
  log: Pick<Log, 'warn'>,
): Promise<FollowedCheckpoint> => {
  const stopping = new AbortController()
  let hurry = deferred()
  const progress = progressFrom(await readCheckpoint(reader), () => hurry.resolve())
  let quarantined = await countQuarantined(reader)
  let generation = await readGeneration(reader)
  let checkedGeneration: string | undefined
  let mismatch: string | undefined
  let failed = false

  /** The database may have been empty at the start, or been dropped and filled by another deployment since. */
  const checkSource = async () => {
    if (checkedGeneration === generation && mismatch === undefined) return
    const source = await sourceLogMismatch(reader, eventStore)
    mismatch = source.mismatch && `the ClickHouse database is in use: ${source.mismatch.reason}`
    if (source.isNoted) checkedGeneration = generation
  }

  const look = async () => {
    try {
      // First, so that nobody reads anew what was kept from tables that are gone.
      generation = await readGeneration(reader)
      await checkSource()
      if (mismatch === undefined) progress.advance(await readCheckpoint(reader))
      quarantined = await countQuarantined(reader)
      failed = false
    } catch (error) {
      if (!failed) log.warn('checkpoint.read_failed', { error: errorName(error) })
      failed = true
    }
  }

  const follow = async () => {
    while (!stopping.signal.aborted) {
      await look()
      hurry = deferred()
      const rest = sleep(progress.someoneWaits() ? HURRIED_MS : UNHURRIED_MS, undefined, {
        signal: stopping.signal,
        ref: false,
      }).catch(() => undefined)
      await (progress.someoneWaits() ? rest : Promise.race([rest, hurry.promise]))
    }
  }

  const following = follow()
  return {
    reached: () => (mismatch === undefined ? progress.reached() : 0n),
    waitFor: async (position, timeoutMs) => mismatch === undefined && progress.wait(position, timeoutMs),
    quarantined: () => quarantined,
    generation: () => generation,
    failing: () => mismatch,
    stop: () => {
      stopping.abort()
      return following
    },
  }
}

/** The identity of a table that every rebuild exchanges. */
const readGeneration = async (reader: Pick<ClickHouseReader, 'query'>): Promise<string> => {
  const [row] = await reader.query<{ identity: string }>(
    "SELECT toString(uuid) AS identity FROM system.tables WHERE database = currentDatabase() AND name = 'calls'",
  )
  return row?.identity ?? ''
}

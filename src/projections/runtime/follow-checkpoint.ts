import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Log } from '../../domain/ports/log.js'
import { countQuarantined, readCheckpoint } from './checkpoint.js'
import { deferred } from './deferred.js'
import { errorName } from './error-name.js'
import { progressFrom } from './progress.js'

/** The read side as a process sees it whose projector is another process: as far as the checkpoint says. */
export interface FollowedCheckpoint {
  reached(): Position
  waitFor(position: Position, timeoutMs: number): Promise<boolean>
  quarantined(): number
  generation(): string
  stop(): Promise<void>
}

/** Milliseconds between two looks, while somebody waits and while nobody does. */
const HURRIED_MS = 50
const UNHURRIED_MS = 1000

export const followCheckpoint = async (
  reader: Pick<ClickHouseReader, 'query'>,
  log: Pick<Log, 'warn'>,
): Promise<FollowedCheckpoint> => {
  const stopping = new AbortController()
  let hurry = deferred()
  const progress = progressFrom(await readCheckpoint(reader), () => hurry.resolve())
  let quarantined = await countQuarantined(reader)
  let generation = await readGeneration(reader)
  let failed = false

  const look = async () => {
    try {
      // First, so that nobody reads anew what was kept from tables that are gone.
      generation = await readGeneration(reader)
      progress.advance(await readCheckpoint(reader))
      quarantined = await countQuarantined(reader)
      failed = false
    } catch (error) {
      if (!failed) log.warn('checkpoint.not_read', { error: errorName(error) })
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
    reached: progress.reached,
    waitFor: (position, timeoutMs) => progress.wait(position, timeoutMs),
    quarantined: () => quarantined,
    generation: () => generation,
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

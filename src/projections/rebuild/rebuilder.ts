import { setTimeout as sleep } from 'node:timers/promises'
import { instantOf } from '../../domain/codec/instant.js'
import { ClickHouseUnavailable, TooManyReads } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { rebuildsIn } from '../rebuilds/queries.js'
import { rebuildRows, UNFINISHED, type Rebuild } from '../rebuilds/rebuild-row.js'
import { errorName } from '../runtime/error-name.js'
import { rebuild, type Rebuilding } from './rebuild.js'

export interface Rebuilder {
  /** Ends what runs; the next start takes it up again. */
  readonly stop: () => Promise<void>
}

export interface Following extends Omit<Rebuilding, 'signal'> {
  /** Requests up to here are older than the tables in use; 0 where the tables were there before. */
  readonly madeAt: Position
}

const ASK_MS = 1000
const MANY = 1000

/** Carries out requests for rebuilds, one at a time, the oldest first; one that was cut off before all others. */
export const startRebuilder = (following: Following): Rebuilder => {
  const stopping = new AbortController()
  const { signal } = stopping
  const { clickHouse, clock, log, madeAt } = following

  const next = async (): Promise<Rebuild | undefined> => {
    const unfinished = await rebuildsIn(clickHouse.writer, UNFINISHED, MANY)
    return unfinished.findLast(({ state }) => state !== 'requested') ?? unfinished.at(-1)
  }

  const carryOut = async (requested: Rebuild) => {
    if (requested.state === 'requested' && requested.requested_position <= madeAt)
      return end(requested, { state: 'superseded' })
    log.info('rebuild.started', { id: requested.id, state: requested.state })
    try {
      await rebuild({ ...following, signal }, requested)
      log.info('rebuild.ended', { id: requested.id })
    } catch (error) {
      log.error('rebuild.failed', { id: requested.id, error: errorName(error) })
      if (!passes(error)) await end(requested, { state: 'failed', reason: errorName(error) })
    }
  }

  const end = async ({ id }: Rebuild, news: Pick<Rebuild, 'state'> & Partial<Rebuild>) => {
    const latest = (await rebuildsIn(clickHouse.writer, UNFINISHED, MANY)).find((other) => other.id === id)
    if (latest === undefined) return
    const ended = { ...latest, ...news, version: latest.version + 1, finished_at: instantOf(clock.now()) }
    await clickHouse.writer.insert(rebuildRows([ended]))
  }

  const follow = async () => {
    while (!signal.aborted) {
      const requested = await next().catch(() => undefined)
      if (requested !== undefined) await carryOut(requested).catch(() => undefined)
      await sleep(ASK_MS, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  const running = follow()
  return {
    stop: () => {
      stopping.abort()
      return running
    },
  }
}

/** What may be better in a second. */
const passes = (error: unknown): boolean =>
  error instanceof ClickHouseUnavailable || error instanceof TooManyReads

import { setTimeout as sleep } from 'node:timers/promises'
import { instantOf } from '../../kernel/codec/instant.js'
import { ClickHouseUnavailable, TooManyReads } from '../../kernel/ports/clickhouse.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { unlessRefused } from '../refused.js'
import { errorName } from '../runtime/error-name.js'
import { rebuildsIn, UNFINISHED, type Rebuild } from './queries.js'
import { rebuild, rebuildLog, secondDatabase, type RebuildOptions } from './rebuild.js'

export interface RebuilderOptions extends Omit<RebuildOptions, 'signal'> {
  /** The tables were created when the log ended here; 0 where they existed before. */
  readonly tablesCreatedAt: Position
  /** Resolves after the next insert of projected rows, which may hold a request, or on abort. */
  readonly nextInsert: (timeoutMs: number, signal: AbortSignal) => Promise<unknown>
  /** Runs while no content of the tables is erased. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>
}

const PAUSE_MS = 1000
const MAX_REQUESTS = 1000

/** Runs the requested rebuilds one at a time: an interrupted one first, then the oldest request. */
export const startRebuilder = (options: RebuilderOptions): { readonly stop: () => Promise<void> } => {
  const stopping = new AbortController()
  const { signal } = stopping
  const { clickHouse, clock, log, tablesCreatedAt, nextInsert, exclusively } = options

  const next = async (): Promise<Rebuild | undefined> => {
    const unfinished = await rebuildsIn(clickHouse.writer, UNFINISHED, MAX_REQUESTS)
    return unfinished.findLast(({ state }) => state !== 'requested') ?? unfinished.at(-1)
  }

  const run = async (request: Rebuild) => {
    const { id, state, requested_position } = request
    const row = rebuildLog(clickHouse.writer, request)
    const end = (changes: Partial<Rebuild>) => row.update({ ...changes, finished_at: instantOf(clock.now()) })
    if (state === 'requested' && requested_position <= tablesCreatedAt) return end({ state: 'superseded' })
    log.info('rebuild.started', { id, state })
    try {
      await rebuild({ ...options, signal }, row)
      log.info('rebuild.ended', { id })
    } catch (error) {
      const reason = error instanceof OperatorError ? error.message : errorName(error)
      log.error('rebuild.failed', { id, error: errorName(error), reason })
      if (signal.aborted || isTemporary(error)) return
      await unlessRefused(
        clickHouse.writer.command(`DROP DATABASE IF EXISTS ${secondDatabase(clickHouse, request)} SYNC`),
      )
      await end({ state: 'failed', reason })
    }
  }

  const follow = async () => {
    let change = nextInsert(Infinity, signal)
    while (!signal.aborted) {
      try {
        const request = await next()
        if (request !== undefined) await exclusively(() => run(request))
        else {
          await change
          change = nextInsert(Infinity, signal)
        }
      } catch {
        // Tried again after the pause.
      }
      await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  const following = follow()
  return {
    /** The next start continues what is interrupted. */
    stop: () => {
      stopping.abort()
      return following
    },
  }
}

const isTemporary = (error: unknown): boolean =>
  (error instanceof ClickHouseUnavailable && error.why !== 'refusing') || error instanceof TooManyReads

import { setTimeout as sleep } from 'node:timers/promises'
import type { ScoredRow } from '../../domain/evaluations/row.js'
import type { ClickHouse } from '../../kernel/ports/clickhouse.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { repeating, type Repeating } from '../runtime/repeating.js'
import { runsChangedAfter, storedRows, type EndedRun } from './stored-rows.js'

export interface EvaluationRowsOptions extends Pick<ClickHouse, 'reader' | 'writer'> {
  /** The rows of a run as of a position, with their version; undefined where they are stored at it, or need not be. */
  readonly rowsOf: (
    run: EndedRun,
    position: Position,
    signal: AbortSignal,
  ) => Promise<{ readonly version: string; readonly rows: readonly ScoredRow[] } | undefined>
  /** The position up to which events are projected. */
  readonly reached: () => Position
  /** Resolves after the next insert of projected rows, or on abort. */
  readonly nextInsert: (timeoutMs: number, signal: AbortSignal) => Promise<unknown>
  readonly log: Pick<Log, 'error'>
  /** A run that changed is read once it has not changed for this long. */
  readonly quietMs?: number
  readonly lookEveryMs?: number
}

const QUIET_MS = 3000
const LOOK_EVERY_MS = 1000
/** Comparisons read the calls of a run until its rows are stored. */
const RETRY_MS = 60_000
/** The longest rest after a run; a shorter one is as long as the run took. */
const MAX_REST_MS = 10_000

/** Stores the rows of evaluation runs after they have ended, so that they are compared without reading their calls. */
export const startEvaluationRows = (options: EvaluationRowsOptions): Repeating => {
  const { reader, writer, rowsOf, reached, nextInsert, log, quietMs = QUIET_MS } = options
  const { lookEveryMs = LOOK_EVERY_MS } = options
  return repeating(async (signal) => {
    const changed = new Map<string, { readonly run: EndedRun; readonly since: number }>()
    const isStopping = () => signal.aborted
    let seen = 0n
    let restMs = 0
    let failing = ''

    const look = async (): Promise<void> => {
      const position = reached()
      if (position === seen) return
      const since = seen === 0n ? -Infinity : performance.now()
      for (const run of await runsChangedAfter(reader, seen))
        changed.set(`${run.projectId}\n${run.runId}`, { run, since })
      seen = position
    }
    const store = async (run: EndedRun): Promise<boolean> => {
      const position = reached()
      const found = await rowsOf(run, position, signal)
      if (found === undefined || found.rows.length === 0) return false
      await writer.insert(storedRows({ ...run, version: found.version }, found.rows, position))
      return true
    }
    /** Up to the next one whose rows are stored. */
    const storeQuiet = async (): Promise<void> => {
      for (const [key, one] of changed) {
        if (isStopping()) return
        if (performance.now() - one.since < quietMs) continue
        changed.delete(key)
        try {
          if (await store(one.run)) return
        } catch (error) {
          changed.set(key, { ...one, since: performance.now() + RETRY_MS })
          throw error
        }
      }
    }

    for (;;) {
      await sleep(Math.max(lookEveryMs, restMs), undefined, { signal, ref: false }).catch(() => undefined)
      while (changed.size === 0 && reached() === seen && !isStopping()) await nextInsert(Infinity, signal)
      if (isStopping()) return
      const begin = performance.now()
      try {
        await look()
        await storeQuiet()
        failing = ''
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        if (reason !== failing && !isStopping()) log.error('evaluations.rows_failed', { reason })
        failing = reason
      }
      restMs = Math.min(performance.now() - begin, MAX_REST_MS)
    }
  })
}

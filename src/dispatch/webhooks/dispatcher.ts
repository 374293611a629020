import { backoff } from '../../kernel/backoff.js'
import { openSkippedEvents } from './follow.js'
import { measuring } from './measures.js'
import { attemptRecordWriter } from './attempt-records.js'
import { startRun, type DispatcherOptions, type DispatcherPorts, type DispatcherRun } from './run.js'

export interface Dispatcher {
  /** Resolves once it has read the log to its end for the first time, and sends. */
  readonly caughtUp: Promise<void>
  /**
   * Starts no more attempts, waits for those in progress, and aborts the ones that have not ended after a time: their
   * outcome is recorded as unknown.
   */
  readonly stop: (finishWithinMs?: number) => Promise<void>
}

const FINISH_WITHIN_MS = 8000
const BACKOFF = { firstMs: 100, maxMs: 5000 }
const LONG_RUN_MS = 60_000

/**
 * Follows the log, schedules deliveries for the automations that match, and sends them. If the state fails, it is rolled
 * back to its last commit and everything in memory is built again.
 */
export const startDispatcher = async (
  ports: DispatcherPorts,
  options: DispatcherOptions,
): Promise<Dispatcher> => {
  const { state, log } = ports
  const shared = {
    ...options,
    instance: ports.ids.next(),
    measures: measuring(ports.metrics),
    records: attemptRecordWriter(ports.records, log),
    skipped: openSkippedEvents(state, log),
  }
  const stopping = new AbortController()
  const isStopping = () => stopping.signal.aborted
  let announce: () => void = () => undefined
  const caughtUp = new Promise<void>((resolve) => (announce = resolve))
  const start = () => startRun(ports, { ...shared, onCaughtUp: announce })
  let run: DispatcherRun | undefined = await start()

  const supervise = async (): Promise<void> => {
    let failures = 0
    for (;;) {
      const startedAt = performance.now()
      const error = await run?.failed
      if (isStopping()) return
      if (run !== undefined) logFailure(error)
      await run?.stop()
      run = undefined
      failures = performance.now() - startedAt > LONG_RUN_MS ? 1 : failures + 1
      await backoff(failures, { ...BACKOFF, signal: stopping.signal })
      if (isStopping()) return
      try {
        state.rollBack()
        run = await start()
        if (isStopping()) return
      } catch (cause) {
        logFailure(cause)
      }
    }
  }
  const logFailure = (error: unknown) =>
    log.error('dispatcher.state_failed', { error: error instanceof Error ? error.name : 'unknown' })
  const supervised = supervise()

  return {
    caughtUp,
    stop: async (finishWithinMs = FINISH_WITHIN_MS) => {
      stopping.abort()
      await run?.stop(finishWithinMs)
      await supervised
      await run?.stop(0)
      state.close()
      await shared.records.close()
    },
  }
}

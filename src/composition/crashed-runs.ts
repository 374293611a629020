import { endCrashedRuns } from '../application/runs/crashed.js'
import { openRuns } from '../application/runs/runs.js'
import type { ClickHouseReader } from '../kernel/ports/clickhouse.js'
import type { Log } from '../kernel/ports/log.js'
import type { Ports } from '../kernel/ports/ports.js'

const EVERY_MS = 60_000

/** Looks for crashed runs once a minute. Returns a function that stops it and waits for the last pass. */
export const watchForCrashedRuns = (
  ports: Ports & { readonly log: Pick<Log, 'warn'> },
  reader: Pick<ClickHouseReader, 'query'>,
): (() => Promise<void>) => {
  const runs = openRuns(ports)
  let pass: Promise<void> | undefined
  const look = async () => {
    try {
      await endCrashedRuns(ports, reader, runs)
    } catch (error) {
      // The next pass finds the same runs.
      ports.log.warn('runs.crash_check_failed', { name: error instanceof Error ? error.name : typeof error })
    }
    pass = undefined
  }
  const timer = setInterval(() => {
    pass ??= look()
  }, EVERY_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await pass
  }
}

import { endCrashedRuns } from '../application/runs/crashed.js'
import { openRuns } from '../application/runs/runs.js'
import type { ClickHouseReader } from '../kernel/ports/clickhouse.js'
import type { Position } from '../kernel/ports/event-store.js'
import { runningRuns } from '../projections/runs/queries.js'
import type { Log } from '../kernel/ports/log.js'
import type { Ports } from '../kernel/ports/ports.js'

const EVERY_MS = 60_000

/**
 * Looks for crashed runs once a minute, unless none was running and nothing was projected since. Returns a function that stops
 * it and waits for the last pass.
 */
export const watchForCrashedRuns = (
  ports: Ports & { readonly log: Pick<Log, 'warn'> },
  reader: Pick<ClickHouseReader, 'query'>,
  reached: () => Position,
): (() => Promise<void>) => {
  const runs = openRuns(ports)
  let pass: Promise<void> | undefined
  let noneRunningAt: Position | undefined
  const look = async () => {
    const position = reached()
    try {
      if (position === noneRunningAt) return
      const running = await runningRuns(reader)
      noneRunningAt = running.length === 0 ? position : undefined
      await endCrashedRuns(ports, running, runs)
    } catch (error) {
      // The next pass finds the same runs.
      ports.log.warn('runs.crash_check_failed', { name: error instanceof Error ? error.name : typeof error })
    }
  }
  const timer = setInterval(() => {
    pass ??= look().finally(() => (pass = undefined))
  }, EVERY_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await pass
  }
}

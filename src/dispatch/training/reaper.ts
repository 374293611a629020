import { randomUUID } from 'node:crypto'
import type { Training } from '../../application/training/training.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'

const EVERY_MS = 2000

/** A job may run this long. */
const MAX_RUNNING_MS = 24 * 3600 * 1000

/** Ends leases of workers that were not heard of, and jobs that run too long. Returns a function that stops it. */
export const startReaper = (
  { clock, log }: Pick<Ports, 'clock'> & { readonly log: Pick<Log, 'warn'> },
  { board, work }: Pick<Training, 'board' | 'work'>,
): (() => Promise<void>) => {
  const pass = async () => {
    const now = clock.now().getTime()
    const correlationId = randomUUID()
    const cause = { correlationId, causationId: correlationId, actor: 'system' }
    for (const { lease } of board.models()) {
      if (lease === null) continue
      const held = { jobId: lease.job_id, leaseId: lease.lease_id }
      if (now > Date.parse(lease.leased_at) + MAX_RUNNING_MS)
        await work.fail(held, 'The job ran longer than 24 hours.', cause)
      else if (now > Date.parse(lease.expires_at)) await work.end(held, 'expired', cause)
    }
  }
  let passing: Promise<void> | undefined
  const timer = setInterval(() => {
    passing ??= pass()
      .catch((error: unknown) =>
        log.warn('training.reaper_failed', { error: error instanceof Error ? error.name : typeof error }),
      )
      .finally(() => (passing = undefined))
  }, EVERY_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await passing
  }
}

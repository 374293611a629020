import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JobIndex } from '../../application/training/job-index.js'
import type { Training } from '../../application/training/services.js'
import type { TrainingLeases } from '../../application/training/leases.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'

const EVERY_MS = 2000
const FOREVER_MS = 2 ** 31 - 1

/** A job may run this long, not counting the time in which the service was away. */
const MAX_RUNNING_MS = 24 * 3600 * 1000

/**
 * Workers could not reach a service that was away: after its start they have this long to extend their leases, and after
 * it got no CPU, or its clock was set.
 */
const GRACE_MS = 30_000
const LATE_MS = 5000

interface Expiring {
  readonly index: Pick<JobIndex, 'queues'>
  readonly work: Pick<TrainingLeases, 'end' | 'fail'>
}

/**
 * Ends the leases that have expired at a time, and jobs that run too long. It is called every few seconds. The worker of
 * this process loses no job for a late heartbeat.
 */
export const leaseExpiry = ({ index, work }: Expiring, ownWorker: string, startedAt: number) => {
  let lastAt = startedAt
  let awayUntil = startedAt
  return async (now: number): Promise<void> => {
    if (Math.abs(now - lastAt - EVERY_MS) > LATE_MS) awayUntil = now
    lastAt = now
    const correlationId = randomUUID()
    const cause = { correlationId, causationId: correlationId, actor: 'system' }
    for (const { lease, held: time } of index.queues()) {
      if (lease === null) continue
      const held = { jobId: lease.job_id, leaseId: lease.lease_id }
      if (time !== undefined && time.ms > MAX_RUNNING_MS)
        await work.fail(held, 'The job ran longer than 24 hours.', cause)
      else if (
        lease.worker !== ownWorker &&
        now > Math.max(Date.parse(lease.expires_at), awayUntil + GRACE_MS)
      )
        await work.end(held, 'expired', cause)
    }
  }
}

/** Looks for expired leases every few seconds while there are leases. Returns a function that stops it. */
export const startReaper = (
  { clock, log }: Pick<Ports, 'clock'> & { readonly log: Pick<Log, 'warn'> },
  training: Pick<Training, 'index' | 'work'>,
  ownWorker: string,
): (() => Promise<void>) => {
  const { index } = training
  const expire = leaseExpiry(training, ownWorker, clock.now().getTime())
  const stopping = new AbortController()
  const { signal } = stopping
  const run = async () => {
    while (!signal.aborted)
      if (index.queues().every(({ lease }) => lease === null)) await index.waitForChange(FOREVER_MS, signal)
      else {
        const isOver = await sleep(EVERY_MS, false, { signal, ref: false }).catch(() => true)
        if (isOver) return
        await expire(clock.now().getTime()).catch((error: unknown) =>
          log.warn('training.reaper_failed', { error: error instanceof Error ? error.name : typeof error }),
        )
      }
  }
  const running = run()
  return () => {
    stopping.abort()
    return running
  }
}

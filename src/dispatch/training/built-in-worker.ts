import { randomUUID } from 'node:crypto'
import { Failure } from '../../application/failure.js'
import { CHECKPOINT_FILE, storeContent } from '../../application/training/checkpoints.js'
import type { Training } from '../../application/training/services.js'
import type { ClaimedJob } from '../../application/training/leases.js'
import { holdsLease } from '../../domain/training/decider.js'
import type { Progress } from '../../domain/training/commands.js'
import type { StepMetrics } from '../../domain/training/events.js'
import type { Engine } from '../../engine/engine.js'
import type { Cause } from '../../kernel/event.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { trainRlJob, trainSftJob } from './train-job.js'

const RECHECK_MS = 5000
const RETRY_MS = 1000
const EXTEND_MS = 20_000
const REPORT_MS = 250
/** Reports of one append. */
const MAX_BATCH = 500

/** The cause of what the engine writes. */
const engineCause = (): Cause => {
  const id = randomUUID()
  return { correlationId: id, causationId: id, actor: 'system' }
}

type WorkerPorts = Pick<Ports, 'eventStore' | 'ids' | 'blobs' | 'clock'> & { readonly log: Pick<Log, 'warn'> }

interface WorkerOptions {
  /** No other process that runs has this name. */
  readonly name: string
}

/** Trains the base models of the built-in engine, one job after another. Returns a function that stops it. */
export const startBuiltInWorker = (
  ports: WorkerPorts,
  { models, index, work, builtIn }: Training,
  engine: Engine,
  { name }: WorkerOptions,
): (() => Promise<void>) => {
  const stopping = new AbortController()

  const holds = ({ job, lease }: ClaimedJob) =>
    models.read(job.model_id, ({ state }) => holdsLease(state, { job_id: job.job_id, lease_id: lease.id }))

  const run = async (claimed: ClaimedJob): Promise<void> => {
    const { job, lease } = claimed
    const held = { jobId: job.job_id, leaseId: lease.id }
    const cause = engineCause()
    const lost = new AbortController()
    const signal = AbortSignal.any([lost.signal, stopping.signal])
    const reports = reporter((first, list) => work.log(held, first, list, cause))
    const extending = setInterval(() => void work.extend(held, cause).catch(() => undefined), EXTEND_MS)
    const watching = (async () => {
      while (!signal.aborted) {
        await index.waitForChange(RECHECK_MS, signal)
        if ((await holds(claimed)) !== true) lost.abort()
      }
    })().catch(() => lost.abort())
    try {
      const train = job.kind === 'rl' ? trainRlJob : trainSftJob
      const { checkpoint, metrics } = await train(ports, engine, claimed, { report: reports.add, signal })
      await reports.flush()
      const md5 = await storeContent(ports)(job.project_id, checkpoint, cause)
      await work.complete(held, [{ path: CHECKPOINT_FILE, md5 }], metrics ?? reports.means(), cause)
    } catch (error) {
      if (stopping.signal.aborted) await work.end(held, 'released', cause)
      else if (!lost.signal.aborted && error instanceof Error && isOfJob(error)) {
        await reports.flush()
        await work.fail(held, error.message, cause)
      } else throw error
    } finally {
      clearInterval(extending)
      lost.abort()
      await watching
    }
  }

  const workOn = async (): Promise<void> => {
    // Of an earlier process, or of a job that an error ended.
    for (const { lease } of index.queues())
      if (lease?.worker === name)
        await work.end({ jobId: lease.job_id, leaseId: lease.lease_id }, 'expired', engineCause())
    const worker = { name, baseModels: [...builtIn], teams: null }
    while (!stopping.signal.aborted) {
      const change = index.waitForChange(RECHECK_MS, stopping.signal)
      const claimed = await work.claim(worker, engineCause())
      if (claimed === undefined) await change
      else await run(claimed)
    }
  }

  const forever = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await workOn()
      } catch (error) {
        // The lease expires or is released, and the job is trained again.
        if (!(error instanceof Failure))
          ports.log.warn('training.engine_failed', {
            error: error instanceof Error ? error.message : typeof error,
          })
        await index.waitForChange(RETRY_MS, stopping.signal)
      }
    }
  }

  const working = forever()
  return async () => {
    stopping.abort()
    await working
  }
}

/** Errors of which the user should know, and that would happen again. */
const isOfJob = ({ name }: Error): boolean =>
  [
    'UntrainableTrajectories',
    'TrainingDiverged',
    'SequenceInvalid',
    'CheckpointInvalid',
    'PromptTooLong',
  ].includes(name)

/** Sends reports in batches, in order and with their numbers. */
const reporter = (send: (first: number, reports: readonly Progress[]) => Promise<void>) => {
  const sums = new Map<string, { sum: number; count: number }>()
  const waiting: Progress[] = []
  let sent = 0
  let timer: NodeJS.Timeout | undefined
  let sending = Promise.resolve()

  const sendOn = () => {
    clearTimeout(timer)
    timer = undefined
    sending = sending.then(async () => {
      while (waiting.length > 0) {
        const batch = waiting.splice(0, MAX_BATCH)
        await send(sent, batch)
        sent += batch.length
      }
    })
    // The failure is that of `flush`.
    sending.catch(() => undefined)
  }
  return {
    add: (report: Progress): void => {
      waiting.push(report)
      if (report.type === 'gradient_step')
        for (const [metric, value] of Object.entries(report.metrics)) {
          const { sum, count } = sums.get(metric) ?? { sum: 0, count: 0 }
          sums.set(metric, { sum: sum + value, count: count + 1 })
        }
      timer ??= setTimeout(sendOn, REPORT_MS)
    },
    flush: async (): Promise<void> => {
      sendOn()
      await sending
    },
    means: (): StepMetrics =>
      Object.fromEntries([...sums].map(([metric, { sum, count }]) => [metric, sum / count])),
  }
}

import { LRUCache } from 'lru-cache'
import type { Runs } from '../../application/runs/runs.js'
import type { TrainedModels } from '../../application/training/trained-models.js'
import { readJob } from '../../application/training/jobs.js'
import type { TrainedModelEvent } from '../../domain/training/events.js'
import {
  checkpointRow,
  metricLoggingIn,
  stepRow,
  type MetricLogging,
} from '../../domain/training/run-metrics.js'
import type { RunCommand } from '../../domain/runs/commands.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { startReactor, type Reactor } from '../../kernel/reactor.js'

/** Of runs that the service started itself, because no program did. */
const SERVICE = 'system'
const KEPT_JOBS = 1000

interface MetricsTools {
  readonly runs: Pick<Runs, 'read' | 'write'>
  readonly models: Pick<TrainedModels, 'readJobs'>
}

interface LoggedJob {
  readonly project: string
  readonly run: string
  readonly logging: MetricLogging
}

/**
 * Logs the metrics of fine-tuning jobs to the runs of their models, for jobs that ask for it. Returns a function that
 * stops it.
 */
export const startRunMetrics = async (
  ports: Pick<Ports, 'eventStore' | 'clock'> & {
    readonly eventStore: Pick<EventStore, 'subscribeAll' | 'readStream' | 'head'>
    readonly snapshots: Snapshots
    readonly log: Pick<Log, 'info' | 'warn'>
  },
  { runs, models }: MetricsTools,
): Promise<() => Promise<void>> => {
  const jobs = new LRUCache<string, { readonly logged: LoggedJob | null }>({ max: KEPT_JOBS })

  const read = async (jobId: string): Promise<LoggedJob | null> => {
    const job = await readJob(ports, jobId)
    const logging = job?.kind === 'sft' ? metricLoggingIn(job.config) : null
    if (job === undefined || logging === null) return null
    const run = await models.readJobs(job.model_id, ({ state }) => state.created?.name)
    return run === undefined ? null : { project: job.project_id, run, logging }
  }
  const jobOf = async (jobId: string): Promise<LoggedJob | null> => {
    const kept = jobs.get(jobId) ?? { logged: await read(jobId) }
    jobs.set(jobId, kept)
    return kept.logged
  }

  const apply = async ({ project, run, logging }: LoggedJob, recorded: RecordedEvent): Promise<void> => {
    const { type, data } = recorded as unknown as TrainedModelEvent
    const ofRun = { project_id: project, run_id: run }
    const write = (command: RunCommand) => runs.write(command, causeOf(recorded))
    /** The revision of the event is a step that no other event has, so a repeat logs nothing. */
    const log = async (metrics: Readonly<Record<string, number>>) => {
      const command = { type: 'LogMetrics', ...ofRun, metrics, evenAfterEnd: true } as const
      const written = await write({ ...command, step: Number(recorded.revision) })
      if (written.refusals.get(0)?.kind !== 'not-found') return
      await write({ type: 'StartRun', ...ofRun, name: run, user: SERVICE, now: at(recorded) })
      await write({ ...command, step: Number(recorded.revision) })
    }
    if (type === 'GradientStepLogged') await log(stepRow(logging, data.sequence, data.metrics))
    if (type === 'CheckpointSaved') await log(checkpointRow(logging, data.metrics))
    if (type !== 'TrainingEnded' && type !== 'TrainingFailed') return
    const isOwn = await runs.read(
      project,
      run,
      ({ state }) => state.started?.user === SERVICE && state.ended === null,
    )
    const state = type === 'TrainingEnded' ? 'finished' : 'failed'
    if (isOwn === true) await write({ type: 'EndRun', ...ofRun, state, now: at(recorded) })
  }

  const react = async (_: null, recorded: RecordedEvent): Promise<void> => {
    const { data } = recorded as unknown as { readonly data: { readonly job_id: string } }
    const job = await jobOf(data.job_id)
    if (job !== null) await apply(job, recorded)
  }
  const reactor = await startReactor({ ...metricsOfJobs, react }, ports)
  return reactor.stop
}

const metricsOfJobs: Omit<Reactor<null>, 'react'> = {
  name: 'training_metrics',
  types: new Set(['GradientStepLogged', 'CheckpointSaved', 'TrainingEnded', 'TrainingFailed']),
  initialState: () => null,
  evolve: () => null,
  snapshot: { encode: () => null, decode: () => null },
}

const at = ({ recordedAt }: RecordedEvent): Instant => instantOf(recordedAt)

const causeOf = ({ id, metadata: { correlationId } }: RecordedEvent): Cause => ({
  correlationId,
  causationId: id,
  actor: SERVICE,
})

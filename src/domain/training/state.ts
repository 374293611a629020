import type { Instant } from '../../kernel/codec/instant.js'
import type { GradientStepLogged, JobKind, ModelCreated, StepMetrics, TrainedModelEvent } from './events.js'

export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'

export interface TrainingJob {
  readonly id: string
  readonly kind: JobKind
  readonly state: JobState
  readonly queuedAt: Instant
  /** When the last worker got it. */
  readonly startedAt: Instant | null
  readonly endedAt: Instant | null
  readonly error: string | null
  /** The step of its checkpoint. */
  readonly step: number | null
  /** The number of the next report. */
  readonly reports: number
  /** How many gradient steps the worker expects. */
  readonly expectedSteps: number | null
  /** Leases that expired since the last new report. */
  readonly lost: number
  /** Null before the first, and once a worker has given the job back. */
  readonly lastLease: Lease | null
  /** Tokens of its gradient steps, as far as they were reported. */
  readonly tokens: number | null
}

export interface Lease {
  readonly jobId: string
  readonly id: string
  readonly worker: string
  readonly since: Instant
  readonly expiresAt: Instant
}

export interface Checkpoint {
  readonly id: string
  readonly step: number
  readonly artifactId: string
  readonly metrics: StepMetrics
  readonly savedAt: Instant
}

export interface ModelState {
  readonly created: ModelCreated | null
  readonly deleted: boolean
  /** By step, in ascending order. */
  readonly checkpoints: Map<number, Checkpoint>
  /** The highest step there ever was. */
  readonly lastStep: number
  readonly jobs: Map<string, TrainingJob>
  /** Ids of the jobs that wait, in the order in which they will run. */
  readonly queue: readonly string[]
  /** Of the job that runs. */
  readonly lease: Lease | null
}

export const initialState = (): ModelState => ({
  created: null,
  deleted: false,
  checkpoints: new Map(),
  lastStep: 0,
  jobs: new Map(),
  queue: [],
  lease: null,
})

export const evolve = (state: ModelState, event: TrainedModelEvent): ModelState => {
  switch (event.type) {
    case 'ModelCreated':
      // Clients may still read the jobs of an earlier model of this name.
      return { ...initialState(), jobs: state.jobs, created: event.data }
    case 'ModelDeleted':
      return { ...state, deleted: true, checkpoints: new Map() }
    case 'TrainingJobQueued': {
      const { job_id, kind, queued_at } = event.data
      state.jobs.set(job_id, {
        id: job_id,
        kind,
        state: 'queued',
        queuedAt: queued_at,
        startedAt: null,
        endedAt: null,
        error: null,
        step: null,
        reports: 0,
        expectedSteps: null,
        lost: 0,
        lastLease: null,
        tokens: null,
      })
      return { ...state, queue: [...state.queue, job_id] }
    }
    case 'TrainingJobLeased': {
      const { job_id, lease_id, worker, leased_at, expires_at } = event.data
      const job = state.jobs.get(job_id)
      const lease = { jobId: job_id, id: lease_id, worker, since: leased_at, expiresAt: expires_at }
      // A late worker that gets its lease back was not lost.
      const lost = Math.max(0, (job?.lost ?? 0) - (job?.lastLease?.id === lease_id ? 1 : 0))
      change(state, job_id, { state: 'running', startedAt: leased_at, lastLease: lease, lost })
      return { ...state, queue: state.queue.filter((one) => one !== job_id), lease }
    }
    case 'TrainingLeaseExtended':
      return { ...state, lease: state.lease && { ...state.lease, expiresAt: event.data.expires_at } }
    case 'TrainingLeaseEnded': {
      const { job_id, reason } = event.data
      const lost = (state.jobs.get(job_id)?.lost ?? 0) + (reason === 'expired' ? 1 : 0)
      change(state, job_id, { state: 'queued', lost, ...(reason === 'released' ? { lastLease: null } : {}) })
      return { ...state, queue: [job_id, ...state.queue], lease: null }
    }
    case 'TrainingStarted':
      change(state, event.data.job_id, { reports: 1, expectedSteps: event.data.num_sequences, lost: 0 })
      return state
    case 'GradientStepLogged':
      return stepped(state, event.data)
    case 'CheckpointSaved': {
      const { checkpoint_id, step, artifact_id, metrics, saved_at } = event.data
      const checkpoint = { id: checkpoint_id, step, artifactId: artifact_id, metrics, savedAt: saved_at }
      state.checkpoints.set(step, checkpoint)
      return { ...state, lastStep: Math.max(state.lastStep, step) }
    }
    case 'CheckpointsDeleted':
      for (const step of event.data.steps) state.checkpoints.delete(step)
      return state
    case 'TrainingEnded': {
      const { job_id, step, ended_at } = event.data
      return ended(state, job_id, { state: 'succeeded', step, endedAt: ended_at })
    }
    case 'TrainingFailed': {
      const { job_id, error_message, cancelled, ended_at } = event.data
      const outcome = cancelled ? 'cancelled' : 'failed'
      return ended(state, job_id, { state: outcome, error: error_message, endedAt: ended_at })
    }
    default:
      // A newer release may have written an event type that this one does not know.
      return state
  }
}

const change = ({ jobs }: ModelState, id: string, changes: Partial<TrainingJob>): void => {
  const job = jobs.get(id)
  if (job !== undefined) jobs.set(id, { ...job, ...changes })
}

const stepped = (state: ModelState, { job_id, sequence, metrics }: GradientStepLogged): ModelState => {
  const tokens = metrics['num_tokens'] ?? metrics['num_trainable_tokens'] ?? null
  const before = state.jobs.get(job_id)?.tokens ?? null
  change(state, job_id, {
    reports: sequence + 1,
    lost: 0,
    tokens: tokens === null ? before : (before ?? 0) + tokens,
  })
  return state
}

const ended = (state: ModelState, id: string, changes: Partial<TrainingJob>): ModelState => {
  change(state, id, changes)
  return {
    ...state,
    queue: state.queue.filter((one) => one !== id),
    lease: state.lease?.jobId === id ? null : state.lease,
  }
}

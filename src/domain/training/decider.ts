import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type {
  CompleteJob,
  CreateModel,
  ExtendLease,
  FailJob,
  LeaseJob,
  LogProgress,
  TrainedModelCommand,
} from './commands.js'
import type { ModelCreated, TrainedModelEvent } from './events.js'
import { evolve, initialState, type ModelState, type TrainingJob } from './state.js'

const decide = (state: ModelState, command: TrainedModelCommand): Decision<TrainedModelEvent> => {
  if (command.type === 'CreateModel') return create(state, command)
  if (state.created === null || state.deleted) return refused('not-found', 'Model not found.')
  const model = modelOf(state.created)
  switch (command.type) {
    case 'DeleteModel':
      return {
        events: [
          ...unfinishedJobs(state).map((job_id) =>
            failure(model, job_id, 'The model was deleted.', command.now, true),
          ),
          { type: 'ModelDeleted', data: { ...model, deleted_at: command.now } },
        ],
      }
    case 'QueueJob': {
      const { job_id, kind, base_model, now } = command
      if (state.jobs.has(job_id)) return nothing
      if (state.queue.length >= MAX_QUEUE)
        return refused(
          'conflict',
          `The model has ${MAX_QUEUE} jobs in its queue. Wait until some have ended.`,
        )
      return {
        events: [{ type: 'TrainingJobQueued', data: { ...model, job_id, kind, base_model, queued_at: now } }],
      }
    }
    case 'LeaseJob':
      return lease(state, model, command)
    case 'ExtendLease':
      return extend(state, model, command)
    case 'EndLease': {
      const { job_id, lease_id, reason, now } = command
      if (state.lease?.jobId !== job_id || state.lease.id !== lease_id) return nothing
      if (reason === 'expired' && state.jobs.get(job_id)!.lost + 1 >= MAX_LOST)
        return {
          events: [failure(model, job_id, `Its workers were lost ${MAX_LOST} times in a row.`, now, false)],
        }
      const data = { ...model, job_id, lease_id, reason, ended_at: now }
      return { events: [{ type: 'TrainingLeaseEnded', data }] }
    }
    case 'LogProgress':
      return logProgress(state, model, command)
    case 'CompleteJob':
      return complete(state, model, command)
    case 'FailJob':
      return fail(state, model, command)
    case 'CancelJob': {
      const job = state.jobs.get(command.job_id)
      if (job === undefined) return refused('not-found', 'Training job not found.')
      if (job.endedAt !== null) return nothing
      return { events: [failure(model, job.id, 'The job was cancelled.', command.now, true)] }
    }
    case 'DeleteCheckpoints': {
      const steps = [...new Set(command.steps)].filter((step) => state.checkpoints.has(step))
      if (steps.length === 0) return nothing
      return { events: [{ type: 'CheckpointsDeleted', data: { ...model, steps } }] }
    }
    case 'LogTrajectories': {
      const { type: _, now, ...logged } = command
      return { events: [{ type: 'TrajectoriesLogged', data: { ...model, ...logged, logged_at: now } }] }
    }
    default:
      return command satisfies never
  }
}

/** All of them fail in one append when the model is deleted. */
const MAX_QUEUE = 2000
/** Leases that expire in a row without a new report. */
const MAX_LOST = 5

type OfModel = Pick<ModelCreated, 'model_id' | 'project_id'>

const modelOf = ({ model_id, project_id }: ModelCreated): OfModel => ({ model_id, project_id })

const create = ({ created, deleted }: ModelState, command: CreateModel): Decision<TrainedModelEvent> => {
  const { model_id, project_id, name, base_model, ofFineTuning = false, returnExisting, now } = command
  if (created === null || deleted)
    return {
      events: [
        {
          type: 'ModelCreated',
          data: { model_id, project_id, name, base_model, of_fine_tuning: ofFineTuning, created_at: now },
        },
      ],
    }
  if (!returnExisting) return refused('conflict', `A model named ${name} already exists in the project.`)
  return created.base_model === base_model
    ? nothing
    : refused(
        'conflict',
        `The model ${name} is trained from ${created.base_model}. Name that base model, or choose another name.`,
      )
}

const unfinishedJobs = ({ queue, lease }: ModelState): readonly string[] =>
  lease === null ? queue : [lease.jobId, ...queue]

const lease = (
  { queue, lease }: ModelState,
  model: OfModel,
  command: LeaseJob,
): Decision<TrainedModelEvent> => {
  const [job_id] = queue
  if (lease !== null || job_id === undefined) return nothing
  const { lease_id, worker, now, expires_at } = command
  const data = { ...model, job_id, lease_id, worker, leased_at: now, expires_at }
  return { events: [{ type: 'TrainingJobLeased', data }] }
}

interface OfLease {
  readonly job_id: string
  readonly lease_id: string
}

/** Whether a worker has the job. A lease that expired is still good while no other worker got the job. */
export const holdsLease = ({ lease, jobs }: ModelState, { job_id, lease_id }: OfLease): boolean => {
  if (lease !== null) return lease.jobId === job_id && lease.id === lease_id
  const job = jobs.get(job_id)
  return job?.state === 'queued' && job.lastLease?.id === lease_id
}

const extend = (state: ModelState, model: OfModel, command: ExtendLease): Decision<TrainedModelEvent> => {
  if (!holdsLease(state, command)) return leaseLost
  const { job_id, lease_id, expires_at } = command
  if (state.lease !== null)
    return { events: [{ type: 'TrainingLeaseExtended', data: { ...model, job_id, lease_id, expires_at } }] }
  const { worker, since: leased_at } = state.jobs.get(job_id)!.lastLease!
  const data = { ...model, job_id, lease_id, worker, leased_at, expires_at }
  return { events: [{ type: 'TrainingJobLeased', data }] }
}

/** Whether a request about a job that has ended repeats one of its last worker. */
const isRepeat = ({ lastLease }: TrainingJob, lease_id: string | null): boolean =>
  lease_id === null || lastLease?.id === lease_id

export const LEASE_LOST =
  'The worker no longer has the job: its lease expired, or the job has ended. Stop working on it.'

const leaseLost = refused('conflict', LEASE_LOST)

const logProgress = (
  state: ModelState,
  model: OfModel,
  command: LogProgress,
): Decision<TrainedModelEvent> => {
  if (!holdsLease(state, command)) return leaseLost
  const { job_id, first, reports } = command
  const { reports: next } = state.jobs.get(job_id)!
  if (first > next)
    return refused(
      'conflict',
      `The next report of the job is number ${next}, but the request begins with ${first}.`,
    )
  const events: TrainedModelEvent[] = []
  for (const [at, report] of reports.entries()) {
    const sequence = first + at
    if (report.type === 'training_started' ? sequence !== 0 : sequence === 0)
      return refused('invalid', 'The first report of a job, and no other, should be training_started.')
    if (sequence < next) continue
    events.push(
      report.type === 'training_started'
        ? { type: 'TrainingStarted', data: { ...model, job_id, num_sequences: report.num_sequences } }
        : { type: 'GradientStepLogged', data: { ...model, job_id, sequence, metrics: report.metrics } },
    )
  }
  return { events }
}

/** A worker that repeats its last message is answered as before. */
const complete = (state: ModelState, model: OfModel, command: CompleteJob): Decision<TrainedModelEvent> => {
  const { job_id, checkpoint_id, artifact_id, step, metrics, now } = command
  const job = state.jobs.get(job_id)
  if (job?.state === 'succeeded' && isRepeat(job, command.lease_id)) return nothing
  if (job === undefined || !holdsLease(state, command)) return leaseLost
  const started: TrainedModelEvent = { type: 'TrainingStarted', data: { ...model, job_id, num_sequences: 0 } }
  return {
    events: [
      ...(job.reports === 0 ? [started] : []),
      {
        type: 'CheckpointSaved',
        data: { ...model, job_id, checkpoint_id, step, artifact_id, metrics, saved_at: now },
      },
      { type: 'TrainingEnded', data: { ...model, job_id, step, ended_at: now } },
    ],
  }
}

const fail = (state: ModelState, model: OfModel, command: FailJob): Decision<TrainedModelEvent> => {
  const { job_id, lease_id, error_message, now } = command
  const job = state.jobs.get(job_id)
  if ((job?.state === 'failed' || job?.state === 'cancelled') && isRepeat(job, lease_id)) return nothing
  if (
    job === undefined ||
    job.endedAt !== null ||
    (lease_id !== null && !holdsLease(state, { job_id, lease_id }))
  )
    return leaseLost
  return { events: [failure(model, job_id, error_message, now, false)] }
}

const failure = (
  model: OfModel,
  job_id: string,
  error_message: string,
  ended_at: Instant,
  cancelled: boolean,
): TrainedModelEvent => ({
  type: 'TrainingFailed',
  data: { ...model, job_id, error_message, cancelled, ended_at },
})

export const trainedModelDecider: Decider<ModelState, TrainedModelCommand, TrainedModelEvent> = {
  initialState,
  evolve,
  decide,
}

import type * as t from 'io-ts'
import { arrayOf, nullable, nullableText, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, int64, jsonObject, number, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { textLike, textUpToBytes } from '../../kernel/codec/text.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'

/** A model is the collection of its checkpoints, so it has a name that a collection can have. */
export const modelName = textLike(
  'model',
  /^[A-Za-z0-9_.-]{1,128}$/,
  'String should have 1 to 128 letters, digits, dots, underscores or hyphens',
)

export const baseModelName = textUpToBytes(256)

const workerName = textUpToBytes(128)

export const jobKind = oneOf('rl', 'sft')
export type JobKind = t.TypeOf<typeof jobKind>

/** The metrics of a gradient step: finite numbers by name. */
export const stepMetrics = recordOf(number)
export type StepMetrics = t.TypeOf<typeof stepMetrics>

const ofModel = { model_id: id, project_id: projectId }
const ofJob = { ...ofModel, job_id: id }

const modelCreated = open('ModelCreated', {
  says: 'A model was created, to be trained from a base model.',
  required: { ...ofModel, name: modelName, base_model: baseModelName, created_at: instant },
  optional: {
    /** Such a model has no name of its own before it is trained. */
    of_fine_tuning: withDefault(boolean, false),
  },
})

const modelDeleted = open('ModelDeleted', {
  says: 'A model was deleted with its checkpoints. Its jobs that had not ended have failed.',
  required: { ...ofModel, deleted_at: instant },
})

const trainingJobQueued = open('TrainingJobQueued', {
  says: 'A training job waits for a worker. Jobs of a model run one after another.',
  required: { ...ofJob, kind: jobKind, base_model: baseModelName, queued_at: instant },
})

const trainingJobLeased = open('TrainingJobLeased', {
  says: 'A worker has the job until the lease expires.',
  required: { ...ofJob, lease_id: id, worker: workerName, leased_at: instant, expires_at: instant },
})

const trainingLeaseExtended = open('TrainingLeaseExtended', {
  says: 'The worker of a job is alive.',
  required: { ...ofJob, lease_id: id, expires_at: instant },
})

const leaseEnd = oneOf('expired', 'released')
export type LeaseEnd = t.TypeOf<typeof leaseEnd>

const trainingLeaseEnded = open('TrainingLeaseEnded', {
  says: 'A worker no longer has the job, which waits for a worker again, before all others of its model.',
  required: { ...ofJob, lease_id: id, reason: leaseEnd, ended_at: instant },
})

const trainingStarted = open('TrainingStarted', {
  says: 'Training started. `num_sequences` is the number of gradient steps that the worker expects.',
  required: { ...ofJob, num_sequences: int64 },
})

const gradientStepLogged = open('GradientStepLogged', {
  says: 'A gradient step was made. `sequence` counts the reports of the worker of the job, from 0.',
  required: { ...ofJob, sequence: int64, metrics: stepMetrics },
})

const checkpointSaved = open('CheckpointSaved', {
  says: 'A job made a checkpoint: a version of the artifact with the name of the model, with the alias `step<step>`.',
  required: {
    ...ofJob,
    checkpoint_id: id,
    step: int64,
    artifact_id: id,
    metrics: stepMetrics,
    saved_at: instant,
  },
})

const checkpointsDeleted = open('CheckpointsDeleted', {
  says: 'Checkpoints were deleted.',
  required: { ...ofModel, steps: arrayOf(int64) },
})

const trajectoriesLogged = open('TrajectoriesLogged', {
  says: 'Trajectories were logged. `content` is the SHA-256 of the blob with their groups as JSON.',
  required: {
    ...ofModel,
    log_id: id,
    split: string,
    groups: int64,
    trajectories: int64,
    content: string,
    logged_at: instant,
  },
  optional: { mean_reward: nullable(number) },
})

const trainingEnded = open('TrainingEnded', {
  says: 'A training job ended with a checkpoint.',
  required: { ...ofJob, step: int64, ended_at: instant },
})

const trainingFailed = open('TrainingFailed', {
  says: 'A training job failed, or was cancelled.',
  required: { ...ofJob, error_message: string, ended_at: instant },
  optional: { cancelled: withDefault(boolean, false) },
})

export const trainedModelEvents = {
  ModelCreated: modelCreated,
  ModelDeleted: modelDeleted,
  TrainingJobQueued: trainingJobQueued,
  TrainingJobLeased: trainingJobLeased,
  TrainingLeaseExtended: trainingLeaseExtended,
  TrainingLeaseEnded: trainingLeaseEnded,
  TrainingStarted: trainingStarted,
  GradientStepLogged: gradientStepLogged,
  CheckpointSaved: checkpointSaved,
  CheckpointsDeleted: checkpointsDeleted,
  TrajectoriesLogged: trajectoriesLogged,
  TrainingEnded: trainingEnded,
  TrainingFailed: trainingFailed,
}

export type TrainedModelEvent = EventOf<typeof trainedModelEvents>
export type ModelCreated = t.TypeOf<typeof modelCreated>
export type GradientStepLogged = t.TypeOf<typeof gradientStepLogged>

export const trainedModelStream = (modelId: string): string => `trained_model-${modelId}`

const startingCheckpoint = open('StartingCheckpoint', {
  says: 'A version of the artifact with the name of a model.',
  required: { project_id: projectId, name: modelName, artifact_id: id, step: int64 },
})
export type StartingCheckpoint = t.TypeOf<typeof startingCheckpoint>

const trainingJobCreated = open('TrainingJobCreated', {
  says:
    'What a training job is to do. `input` is the SHA-256 of a blob: the trajectory groups of a job of reinforcement learning as ' +
    'JSON, or lines of JSON with the conversations of a fine-tuning job.',
  required: {
    ...ofJob,
    kind: jobKind,
    base_model: baseModelName,
    input: string,
    config: jsonObject,
    created_at: instant,
  },
  optional: {
    training_data_url: nullableText(string),
    validation: nullable(string),
    /** What a model without checkpoints begins with, instead of its base model. */
    from: nullable(startingCheckpoint),
  },
})

export const trainingJobEvents = { TrainingJobCreated: trainingJobCreated }
export type TrainingJobCreated = t.TypeOf<typeof trainingJobCreated>

export const trainingJobStream = (jobId: string): string => `training_job-${jobId}`

const workerRegistered = open('WorkerRegistered', {
  says: 'A worker trains these base models, for some teams or, with null, for all.',
  required: { worker: workerName, base_models: arrayOf(baseModelName) },
  optional: { teams: nullable(arrayOf(string)) },
})

export const workerEvents = { WorkerRegistered: workerRegistered }
export type WorkerEvent = EventOf<typeof workerEvents>
export type WorkerRegistered = t.TypeOf<typeof workerRegistered>

export const WORKERS_STREAM = 'training-workers'

import type { Instant } from '../../kernel/codec/instant.js'
import type { JobKind, LeaseEnd, StepMetrics } from './events.js'

/** Creates a model, or finds the model of this name. */
export interface CreateModel {
  readonly type: 'CreateModel'
  readonly model_id: string
  readonly project_id: string
  readonly name: string
  readonly base_model: string
  /** Made by a fine-tuning job, and nothing before that is trained. */
  readonly ofFineTuning?: boolean
  readonly returnExisting: boolean
  readonly now: Instant
}

export interface DeleteModel {
  readonly type: 'DeleteModel'
  readonly now: Instant
}

export interface QueueJob {
  readonly type: 'QueueJob'
  readonly job_id: string
  readonly kind: JobKind
  readonly base_model: string
  readonly now: Instant
}

/** Gives the first job of the queue to a worker, if no job of the model runs. */
export interface LeaseJob {
  readonly type: 'LeaseJob'
  readonly lease_id: string
  readonly worker: string
  readonly now: Instant
  readonly expires_at: Instant
}

interface OfLease {
  readonly job_id: string
  readonly lease_id: string
}

export interface ExtendLease extends OfLease {
  readonly type: 'ExtendLease'
  readonly expires_at: Instant
}

export interface EndLease extends OfLease {
  readonly type: 'EndLease'
  readonly reason: LeaseEnd
  readonly now: Instant
}

export type Progress =
  | { readonly type: 'training_started'; readonly num_sequences: number }
  | { readonly type: 'gradient_step'; readonly metrics: StepMetrics }

/** Reports are identified by their sequence numbers, so a repeat writes nothing. */
export interface LogProgress extends OfLease {
  readonly type: 'LogProgress'
  /** The number of the first report. */
  readonly first: number
  readonly reports: readonly Progress[]
}

/** The job made the checkpoint of the next step. */
export interface CompleteJob extends OfLease {
  readonly type: 'CompleteJob'
  readonly checkpoint_id: string
  readonly artifact_id: string
  readonly step: number
  readonly metrics: StepMetrics
  readonly now: Instant
}

/** The worker of a lease gives the job up; without a lease the service does. */
export interface FailJob {
  readonly type: 'FailJob'
  readonly job_id: string
  readonly lease_id: string | null
  readonly error_message: string
  readonly now: Instant
}

/** A job that waits ends at once, one that runs with the next message of its worker. */
export interface CancelJob {
  readonly type: 'CancelJob'
  readonly job_id: string
  readonly now: Instant
}

export interface DeleteCheckpoints {
  readonly type: 'DeleteCheckpoints'
  readonly steps: readonly number[]
}

export interface LogTrajectories {
  readonly type: 'LogTrajectories'
  readonly log_id: string
  readonly split: string
  readonly groups: number
  readonly trajectories: number
  readonly mean_reward: number | null
  /** The SHA-256 of the blob with the groups. */
  readonly content: string
  readonly now: Instant
}

export type TrainedModelCommand =
  | CreateModel
  | DeleteModel
  | QueueJob
  | LeaseJob
  | ExtendLease
  | EndLease
  | LogProgress
  | CompleteJob
  | FailJob
  | CancelJob
  | DeleteCheckpoints
  | LogTrajectories

import { isFilePath, PATH_RULE } from '../../domain/files/path.js'
import { jobKind, stepMetrics } from '../../domain/training/events.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import {
  boolean,
  int64,
  integerBetween,
  jsonObject,
  oneOf,
  string,
  wholeNumber,
} from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textLike, textUpToBytes } from '../../kernel/codec/text.js'

const MAX_WAIT_SECONDS = 30

/** Names are shown in terminals and pages. */
const baseModel = textLike(
  'base model',
  /^[^\s\p{C}<>"'`&\\]{1,256}$/u,
  'String should have 1 to 256 characters, without spaces, control characters, quotes, <, > and &',
)
const worker = textLike(
  'worker',
  /^[^\p{C}<>]{1,128}$/u,
  'String should have 1 to 128 characters, without control characters, < and >',
)

export const claimRequest = closed('ClaimTrainingJob', {
  required: { worker, base_models: arrayOf(baseModel, 1) },
  optional: { wait_seconds: withDefault(integerBetween(0, MAX_WAIT_SECONDS), 0, true) },
})

const linkedFile = open('CheckpointFile', { required: { path: string, size: int64, url: string } })

const claimedJob = open('ClaimedTrainingJob', {
  says: 'Links open without a key. `from` is the checkpoint that training begins with, null for the base model.',
  required: {
    id: string,
    kind: jobKind,
    entity: string,
    project: string,
    model: string,
    base_model: string,
    step: int64,
    config: jsonObject,
    input_url: string,
    lease_id: string,
    lease_expires_at: string,
  },
  optional: {
    /** Conversations whose loss is reported as `validation_loss`. */
    validation_url: nullable(string),
    from: nullable(open('FromCheckpoint', { required: { step: int64, files: arrayOf(linkedFile) } })),
  },
})

export const claimed = open('ClaimedTrainingJobOrNone', { optional: { job: nullable(claimedJob) } })

const ofLease = { lease_id: string }

export const heartbeat = closed('TrainingHeartbeat', { required: ofLease })
export const heartbeatAnswer = open('TrainingHeartbeatAnswer', {
  says: 'With `cancel` the worker no longer has the job, and should stop.',
  required: { cancel: boolean },
  optional: { lease_expires_at: nullable(string) },
})

const report = closed('TrainingReport', {
  says: '`training_started` has `num_sequences`, a `gradient_step` its `metrics`.',
  required: { type: oneOf('training_started', 'gradient_step') },
  optional: { num_sequences: nullable(wholeNumber), metrics: nullable(stepMetrics) },
})

export const reportsRequest = closed('TrainingReports', {
  says: '`first` is the number of the first report, counted from 0 in the job. Reports that were sent before are not logged again.',
  required: { ...ofLease, first: wholeNumber, reports: arrayOf(report) },
})

const md5 = textLike('md5', /^[0-9a-f]{32}$/, 'String should be an MD5 in lower-case hexadecimal')
/** Clients store the files of a checkpoint under their paths. */
const CHECKPOINT_PATH = /^(?!\/)(?!(?:[\s\S]*\/)?\.{0,2}(?:\/|$))[^\\\0]{1,1024}$/
const filePath = textLike(
  'path',
  CHECKPOINT_PATH,
  `String should be a relative path without empty parts, . or ..: ${PATH_RULE}`,
  (path) => CHECKPOINT_PATH.test(path) && isFilePath(path),
)
const file = closed('NewCheckpointFile', { required: { path: filePath, md5 } })
export const filesRequest = closed('NewCheckpointFiles', {
  required: { ...ofLease, files: arrayOf(file, 1) },
})
export const uploads = open('CheckpointUploads', {
  says: 'Null for content that the project has already.',
  required: {
    files: arrayOf(
      open('CheckpointUpload', { required: { path: string }, optional: { upload_url: nullable(string) } }),
    ),
  },
})

export const completion = closed('CompletedTrainingJob', {
  required: { ...ofLease, files: arrayOf(file, 1) },
  optional: { metrics: withDefault(stepMetrics, {}, true) },
})
export const completedStep = open('CompletedStep', { required: { step: int64 } })

export const failure = closed('FailedTrainingJob', {
  required: { ...ofLease, error_message: textUpToBytes(16_384) },
})

import type { IncomingHttpHeaders } from 'node:http'
import { storedByMd5 } from '../../application/artifacts/uploads.js'
import { Failure, invalidField } from '../../application/failure.js'
import type { Principal } from '../../application/principal.js'
import type { ClaimedJob, Worker } from '../../application/training/leases.js'
import type { Progress } from '../../domain/training/commands.js'
import type { StepMetrics } from '../../domain/training/events.js'
import { utf8Bytes } from '../../kernel/codec/text.js'
import type { Cause } from '../../kernel/event.js'
import { linksFor } from '../files/links.js'
import { anyKey } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute } from '../server/route.js'
import { writeAuthorized, writeDirectory } from '../server/route-kinds.js'
import { ofWorkersJob } from './authorization.js'
import type { TrainingServices } from './models.js'
import {
  claimRequest,
  claimed,
  heartbeat,
  heartbeatAnswer,
  reportsRequest,
  filesRequest,
  uploads,
  completion,
  completedStep,
  failure,
} from './worker-codecs.js'

const MAX_REPORTS = 1000
const MAX_FILES = 1000
const MAX_BASE_MODELS = 1000
const MAX_METRICS = 1000
const MAX_METRIC_NAME_BYTES = 256

const JOB = '/v1/preview/training-jobs/:job_id'

const claimWithin = async (
  { training: { index, work } }: TrainingServices,
  worker: Worker,
  seconds: number,
  cause: Cause,
  signal: AbortSignal,
) => {
  const until = performance.now() + seconds * 1000
  for (;;) {
    const left = until - performance.now()
    const change = index.waitForChange(Math.max(1, Math.min(left, RECHECK_MS)), signal)
    const found = await work.claim(worker, cause)
    if (found !== undefined || left <= 0 || signal.aborted) return found
    await change
  }
}

const claimJob = (services: TrainingServices): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/v1/preview/workers/claim',
    summary:
      'Registers a worker with the base models that it trains, and gives it a job of one of them, if there is one within `wait_seconds`.',
    errorFormat: 'chat',
    body: claimRequest,
    response: claimed,
    authorization: anyKey,
    handle: ({ principal, headers, onDisconnect, body: { worker, base_models, wait_seconds } }) => {
      requireAtMost('base_models', base_models.length, MAX_BASE_MODELS)
      const own = base_models.find((name) => services.training.builtIn.has(name))
      if (own !== undefined)
        throw invalidField(['base_models'], 'value_error', `The service itself trains ${own}: leave it out`)
      const gone = new AbortController()
      onDisconnect(() => gone.abort())
      return async (cause) => {
        const program = {
          name: `${principal.userId}/${worker}`,
          baseModels: base_models,
          teams: principal.administrator ? null : principal.teams,
        }
        await services.training.work.register(program, cause)
        const signal = AbortSignal.any([gone.signal, services.training.stopping])
        const found = await claimWithin(services, program, wait_seconds, cause, signal)
        return {
          body: { job: found === undefined ? null : claimedJobJson(services, headers, principal, found) },
        }
      }
    },
  })

const extendLease = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'post',
    path: `${JOB}/heartbeat`,
    summary: 'Extends the lease of a job by a minute.',
    errorFormat: 'chat',
    body: heartbeat,
    response: heartbeatAnswer,
    authorization: ofWorkersJob(services),
    handle:
      ({ job, body }) =>
      async (cause) => {
        try {
          const expiry = await services.training.work.extend(
            { jobId: job.job_id, leaseId: body.lease_id },
            cause,
          )
          return { body: { cancel: false, lease_expires_at: expiry } }
        } catch (error) {
          if (!(error instanceof Failure)) throw error
          return { body: { cancel: true, lease_expires_at: null } }
        }
      },
  })

const logReports = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'post',
    path: `${JOB}/reports`,
    summary: 'Logs the start of training and its gradient steps.',
    errorFormat: 'chat',
    body: reportsRequest,
    response: emptyResponse,
    authorization: ofWorkersJob(services),
    handle: ({ job, body: { lease_id, first, reports } }) => {
      requireAtMost('reports', reports.length, MAX_REPORTS)
      for (const [at, { metrics }] of reports.entries()) checkMetrics(['reports', at, 'metrics'], metrics)
      const progress = reports.map(({ type, num_sequences, metrics }): Progress =>
        type === 'training_started'
          ? { type, num_sequences: num_sequences ?? 0 }
          : { type, metrics: metrics ?? {} },
      )
      return async (cause) => {
        await services.training.work.log({ jobId: job.job_id, leaseId: lease_id }, first, progress, cause)
        return { body: {} }
      }
    },
  })

const giveUploads = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'post',
    path: `${JOB}/files`,
    summary: 'Gives links by which the files of a checkpoint are stored, with PUT.',
    errorFormat: 'chat',
    body: filesRequest,
    response: uploads,
    authorization: ofWorkersJob(services),
    handle: ({ job: { project_id, job_id }, principal, headers, body: { lease_id, files } }) => {
      checkFiles(files)
      const links = linksFor(services, headers, principal)
      return async () => {
        await services.training.work.requireLease({ jobId: job_id, leaseId: lease_id })
        return {
          body: {
            files: await Promise.all(
              files.map(async ({ path, md5 }) => {
                const stored = await storedByMd5(services, project_id, md5)
                return { path, upload_url: stored === undefined ? links.store(project_id, md5) : null }
              }),
            ),
          },
        }
      }
    },
  })

const completeJob = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'post',
    path: `${JOB}/complete`,
    summary: 'Ends a job with the checkpoint of its next step, whose files were stored before.',
    errorFormat: 'chat',
    body: completion,
    response: completedStep,
    authorization: ofWorkersJob(services),
    handle: ({ job, body: { lease_id, files, metrics } }) => {
      checkFiles(files)
      checkMetrics(['metrics'], metrics)
      return async (cause) => {
        const step = await services.training.work.complete(
          { jobId: job.job_id, leaseId: lease_id },
          files,
          metrics,
          cause,
        )
        return { body: { step } }
      }
    },
  })

const failJob = (services: TrainingServices): AnyRoute =>
  writeAuthorized(services, {
    method: 'post',
    path: `${JOB}/fail`,
    summary: 'Ends a job with an error.',
    errorFormat: 'chat',
    body: failure,
    response: emptyResponse,
    authorization: ofWorkersJob(services),
    handle:
      ({ job, body: { lease_id, error_message } }) =>
      async (cause) => {
        const reason = error_message.trim() === '' ? 'The worker gave no reason.' : error_message
        await services.training.work.fail({ jobId: job.job_id, leaseId: lease_id }, reason, cause)
        return { body: {} }
      },
  })

/** The protocol of programs that train: they claim jobs, report progress, and store checkpoints. */
export const workerRoutes = (services: TrainingServices): readonly AnyRoute[] =>
  [claimJob, extendLease, logReports, giveUploads, completeJob, failJob].map((route) => ({
    ...route(services),
    forWorkers: true,
  }))
/** In case another process leased the job that woke the worker, and lost it. */
const RECHECK_MS = 5000

const requireAtMost = (field: string, length: number, most: number): void => {
  if (length > most) throw new Failure('too-large', `${field}: List should have at most ${most} items.`)
}

/** All metrics of a step are in one event. */
const checkMetrics = (at: readonly (string | number)[], metrics: StepMetrics | null): void => {
  const names = Object.keys(metrics ?? {})
  if (names.length > MAX_METRICS)
    throw invalidField(at, 'value_error', `Value should have at most ${MAX_METRICS} metrics`)
  if (names.some((name) => utf8Bytes(name) > MAX_METRIC_NAME_BYTES))
    throw invalidField(at, 'value_error', `Names should have at most ${MAX_METRIC_NAME_BYTES} bytes`)
}

const checkFiles = (files: readonly { readonly path: string }[]): void => {
  requireAtMost('files', files.length, MAX_FILES)
  const paths = new Set(files.map(({ path }) => path))
  if (paths.size < files.length)
    throw invalidField(['files'], 'value_error', 'Each path should be there once')
}

const claimedJobJson = (
  services: TrainingServices,
  headers: IncomingHttpHeaders,
  principal: Principal,
  { job, model, lease, step, from }: ClaimedJob,
) => {
  const links = linksFor(services, headers, principal)
  const { project_id } = job
  const [entity = '', project = ''] = project_id.split('/')
  return {
    id: job.job_id,
    kind: job.kind,
    entity,
    project,
    model: model.name,
    base_model: job.base_model,
    step,
    config: job.config,
    input_url: links.read(
      project_id,
      job.input,
      job.kind === 'sft' ? 'train.jsonl' : 'trajectory_groups.json',
    ),
    validation_url:
      job.validation === null ? null : links.read(project_id, job.validation, 'validation.jsonl'),
    lease_id: lease.id,
    lease_expires_at: lease.expiresAt,
    from: from && {
      step: from.step,
      files: from.files.map(({ path, blob, size }) => ({
        path,
        size,
        url: links.read(from.project, blob, path),
      })),
    },
  }
}

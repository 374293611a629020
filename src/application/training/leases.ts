import type { VersionCreated } from '../../domain/artifacts/events.js'
import { holdsLease, LEASE_LOST } from '../../domain/training/decider.js'
import type { Progress } from '../../domain/training/commands.js'
import type { Lease } from '../../domain/training/state.js'
import type {
  LeaseEnd,
  ModelCreated,
  StartingCheckpoint,
  StepMetrics,
  TrainingJobCreated,
  WorkerRegistered,
} from '../../domain/training/events.js'
import { WORKERS_STREAM } from '../../domain/training/events.js'
import { workerDecider } from '../../domain/training/workers.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { entityOf } from '../../kernel/ids.js'
import { execute } from '../../kernel/execute.js'
import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { throwIfRefused } from '../access/rights.js'
import { Failure } from '../failure.js'
import type { Collections } from '../artifacts/collections.js'
import { findVersion, versionWithId } from '../artifacts/find-version.js'
import { readManifest, storedByMd5 } from '../artifacts/uploads.js'
import { hexOfMd5 } from '../../domain/artifacts/manifest.js'
import { collectionOfModel, saveCheckpointVersion, type UploadedFile } from './checkpoints.js'
import type { TrainedModels } from './trained-models.js'
import { LEASE_MS, type JobIndex } from './job-index.js'
import { noSuchJob, readJob } from './jobs.js'

export interface Worker {
  readonly name: string
  readonly baseModels: readonly string[]
  /** Null for all. */
  readonly teams: readonly string[] | null
}

export interface CheckpointFile {
  readonly path: string
  readonly blob: string
  readonly size: number
}

/** A job that a worker has, and what it needs. */
export interface ClaimedJob {
  readonly job: TrainingJobCreated
  readonly model: ModelCreated
  readonly lease: Pick<Lease, 'id' | 'expiresAt'>
  /** The step that the job is to make. */
  readonly step: number
  /** What training begins with; null for the base model. */
  readonly from: {
    readonly step: number
    readonly project: string
    readonly files: readonly CheckpointFile[]
  } | null
}

interface OfLease {
  readonly jobId: string
  readonly leaseId: string
}

/** What workers do with jobs, whether they are programs elsewhere or the engine of this process. */
export interface TrainingLeases {
  /** Records the base models and teams of a worker. A repeat writes nothing. */
  readonly register: (worker: Worker, cause: Cause) => Promise<void>
  /** A job for the worker; undefined if none is free. */
  readonly claim: (worker: Worker, cause: Cause) => Promise<ClaimedJob | undefined>
  /** Says when the lease now expires. @throws Failure if the worker no longer has the job */
  readonly extend: (lease: OfLease, cause: Cause) => Promise<string>
  readonly log: (lease: OfLease, first: number, reports: readonly Progress[], cause: Cause) => Promise<void>
  readonly complete: (
    lease: OfLease,
    files: readonly UploadedFile[],
    metrics: StepMetrics,
    cause: Cause,
  ) => Promise<number>
  /** @throws Failure if the worker no longer has the job */
  readonly requireLease: (lease: OfLease) => Promise<void>
  readonly fail: (lease: OfLease, message: string, cause: Cause) => Promise<void>
  readonly end: (lease: OfLease, reason: LeaseEnd, cause: Cause) => Promise<void>
}

interface LeaseDeps {
  readonly models: TrainedModels
  readonly collections: Collections
  readonly index: JobIndex
}

export const trainingLeases = (
  ports: Pick<Ports, 'eventStore' | 'ids' | 'blobs' | 'clock'>,
  { models, collections, index }: LeaseDeps,
): TrainingLeases => {
  /** Two requests that complete a job with different files would both move the aliases of its step. */
  const completing = new KeyedMutex()
  const now = () => instantOf(ports.clock.now())
  const untilExpiry = () => instantOf(new Date(ports.clock.now().getTime() + LEASE_MS))
  const modelOf = async (jobId: string): Promise<string> => {
    const job = await readJob(ports, jobId)
    if (job === undefined) throw noSuchJob()
    return job.model_id
  }

  const register = async ({ name, baseModels, teams }: Worker, cause: Cause): Promise<void> => {
    const worker: WorkerRegistered = { worker: name, base_models: baseModels, teams }
    const command = { type: 'RegisterWorker', worker } as const
    const known = index.workers().find((one) => one.worker === name)
    if (known === undefined || workerDecider.decide(new Map([[name, known]]), command).events.length > 0)
      await execute(ports)(workerDecider, WORKERS_STREAM, [command], cause)
  }

  /** Leases the first job of a model; undefined if another worker was faster. */
  const lease = async (modelId: string, worker: string, cause: Cause): Promise<ClaimedJob | undefined> => {
    const leased = await models.write(
      modelId,
      { type: 'LeaseJob', lease_id: ports.ids.next(), worker, now: now(), expires_at: untilExpiry() },
      cause,
      ({ created, lastStep, checkpoints }, [event]) =>
        event?.type === 'TrainingJobLeased'
          ? {
              model: created!,
              step: lastStep + 1,
              from: [...checkpoints.values()].at(-1),
              jobId: event.data.job_id,
              lease: { id: event.data.lease_id, expiresAt: event.data.expires_at },
            }
          : undefined,
    )
    if (leased.state === undefined) return undefined
    const { model, jobId, from, ...given } = leased.state
    const job = await readJob(ports, jobId)
    if (job === undefined) throw new Error('a training job of the log has no definition')
    const { project_id, name } = model
    const start =
      from === undefined ? job.from : { project_id, name, artifact_id: from.artifactId, step: from.step }
    if (start == null) return { ...given, job, model, from: null }
    const files = await filesOf(start)
    if (files !== undefined)
      return { ...given, job, model, from: { step: start.step, project: start.project_id, files } }
    // Training from the base model instead would lose what the model has learned.
    const error_message =
      from === undefined
        ? `The checkpoint of ${start.name} that the job begins with was deleted.`
        : `The checkpoint of step ${from.step} was deleted as an artifact. Delete the checkpoint too, to train from the one before.`
    const failed = {
      type: 'FailJob',
      job_id: jobId,
      lease_id: given.lease.id,
      error_message,
      now: now(),
    } as const
    await models.write(modelId, failed, cause)
    return undefined
  }

  /** The files of a checkpoint; undefined if its version was deleted as an artifact. */
  const filesOf = async (start: StartingCheckpoint) => {
    const choose = versionWithId(start.artifact_id)
    const version = await findVersion(ports, collections, collectionOfModel(start), choose)
    return version && filesIn(ports, start.project_id, version.event.data as unknown as VersionCreated)
  }

  const complete = async (
    modelId: string,
    { jobId, leaseId }: OfLease,
    files: readonly UploadedFile[],
    metrics: StepMetrics,
    cause: Cause,
  ): Promise<number> => {
    const held = await models.read(modelId, ({ state }) => ({
      model: state.created!,
      holds: holdsLease(state, { job_id: jobId, lease_id: leaseId }),
      doneStep: state.jobs.get(jobId)?.step ?? null,
      step: state.lastStep + 1,
    }))
    if (held === undefined) throw noSuchJob()
    const { model, step, doneStep } = held
    const saved = held.holds
      ? await saveCheckpointVersion(ports, collections)(model, step, files, now(), cause)
      : { artifactId: '' }
    const written = await models.write(
      modelId,
      {
        type: 'CompleteJob',
        job_id: jobId,
        lease_id: leaseId,
        checkpoint_id: ports.ids.next(),
        artifact_id: saved.artifactId,
        step,
        metrics,
        now: now(),
      },
      cause,
    )
    throwIfRefused(written.refusals.get(0))
    return doneStep ?? step
  }

  return {
    register,
    claim: async (worker, cause) => {
      for (const { model_id, project_id, base_model, queued, lease: held } of index.queues()) {
        const isFor = worker.teams === null || worker.teams.includes(entityOf(project_id))
        if (!isFor || held !== null || queued.length === 0 || !worker.baseModels.includes(base_model))
          continue
        const claimed = await lease(model_id, worker.name, cause)
        if (claimed !== undefined) return claimed
      }
      return undefined
    },
    extend: async ({ jobId, leaseId }, cause) => {
      const expires_at = untilExpiry()
      const command = { type: 'ExtendLease', job_id: jobId, lease_id: leaseId, expires_at } as const
      const written = await models.write(await modelOf(jobId), command, cause)
      throwIfRefused(written.refusals.get(0))
      return expires_at
    },
    log: async ({ jobId, leaseId }, first, reports, cause) => {
      const command = { type: 'LogProgress', job_id: jobId, lease_id: leaseId, first, reports } as const
      const written = await models.write(await modelOf(jobId), command, cause)
      throwIfRefused(written.refusals.get(0))
    },
    complete: async (lease, files, metrics, cause) => {
      const modelId = await modelOf(lease.jobId)
      return completing.runExclusive(modelId, () => complete(modelId, lease, files, metrics, cause))
    },
    requireLease: async ({ jobId, leaseId }) => {
      const holds = await models.read(await modelOf(jobId), ({ state }) =>
        holdsLease(state, { job_id: jobId, lease_id: leaseId }),
      )
      if (holds !== true) throw new Failure('conflict', LEASE_LOST)
    },
    fail: async ({ jobId, leaseId }, error_message, cause) => {
      const command = {
        type: 'FailJob',
        job_id: jobId,
        lease_id: leaseId,
        error_message,
        now: now(),
      } as const
      const written = await models.write(await modelOf(jobId), command, cause)
      throwIfRefused(written.refusals.get(0))
    },
    end: async ({ jobId, leaseId }, reason, cause) => {
      const command = { type: 'EndLease', job_id: jobId, lease_id: leaseId, reason, now: now() } as const
      await models.write(await modelOf(jobId), command, cause)
    },
  }
}

/** The stored files of an uploaded version, without references to content elsewhere. */
export const filesIn = async (
  ports: Pick<Ports, 'eventStore' | 'blobs'>,
  project: string,
  { manifest }: Pick<VersionCreated, 'manifest'>,
): Promise<readonly CheckpointFile[]> => {
  const entries = manifest == null ? [] : ((await readManifest(ports, manifest.blob)) ?? [])
  const files = await Promise.all(
    entries.map(async ({ path, digest, reference }) => {
      const md5 = reference === null ? hexOfMd5(digest) : undefined
      const stored = md5 === undefined ? undefined : await storedByMd5(ports, project, md5)
      return stored && { path, blob: stored.blob, size: stored.size }
    }),
  )
  return files.filter((file) => file !== undefined)
}

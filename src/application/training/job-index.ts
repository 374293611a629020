import type { TrainedModelEvent, WorkerEvent, WorkerRegistered } from '../../domain/training/events.js'
import type { Json } from '../../kernel/json/json.js'
import { isJsonObject } from '../../kernel/json/json.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { startReactor, type Reactor, type RunningReactor } from '../../kernel/reactor.js'

export const LEASE_MS = 60_000

/** A model that has jobs to do. */
export interface ModelQueue {
  readonly model_id: string
  readonly project_id: string
  readonly base_model: string
  /** Ids of the jobs in the queue. */
  readonly queued: readonly string[]
  /** The job that runs. */
  readonly lease: {
    readonly job_id: string
    readonly lease_id: string
    readonly worker: string
    readonly expires_at: string
  } | null
  /** How long the last lease has been held. Absent before the first one, and in snapshots of older releases. */
  readonly held?: { readonly lease_id: string; readonly ms: number }
}

/** A model that exists. */
export interface NamedModel {
  readonly model_id: string
  readonly project_id: string
  readonly name: string
  readonly base_model: string
  readonly created_at: string
  /** A model of a fine-tuning job has no name before it is trained. */
  readonly isNamed: boolean
}

interface IndexState {
  readonly models: Map<string, NamedModel>
  readonly queues: Map<string, ModelQueue>
  readonly workers: Map<string, WorkerRegistered>
}

/** Finds models with jobs, and workers. Eventually consistent: the stream of a model decides. */
export interface JobIndex {
  readonly queues: () => readonly ModelQueue[]
  readonly models: () => readonly NamedModel[]
  readonly workers: () => readonly WorkerRegistered[]
  /** Resolves when a job may have become free, or after a time. */
  readonly waitForChange: (withinMs: number, signal: AbortSignal) => Promise<void>
  /** Whether the log was read up to its head at the start. */
  readonly isCaughtUp: () => boolean
  readonly stop: () => Promise<void>
}

const evolve = (state: IndexState, event: RecordedEvent): IndexState => {
  const { models, queues, workers } = state
  if (event.type === 'WorkerRegistered') {
    const { data } = event as unknown as WorkerEvent
    workers.set(data.worker, data)
    return state
  }
  const known = event as unknown as TrainedModelEvent
  const { model_id } = known.data
  if (known.type === 'ModelCreated') {
    const { project_id, name, base_model, created_at, of_fine_tuning } = known.data
    models.set(model_id, { model_id, project_id, name, base_model, created_at, isNamed: !of_fine_tuning })
  }
  const trained = known.type === 'CheckpointSaved' ? models.get(model_id) : undefined
  if (trained !== undefined) models.set(model_id, { ...trained, isNamed: true })
  if (known.type === 'ModelDeleted') models.delete(model_id)
  const next = changed(queues.get(model_id), known)
  if (next === undefined || (next.queued.length === 0 && next.lease === null)) queues.delete(model_id)
  else queues.set(model_id, next)
  return state
}

const changed = (
  model: ModelQueue | undefined,
  { type, data }: TrainedModelEvent,
): ModelQueue | undefined => {
  switch (type) {
    case 'TrainingJobQueued': {
      const { model_id, project_id, base_model, job_id } = data
      const known = model ?? { model_id, project_id, base_model, queued: [], lease: null }
      return known.queued.includes(job_id) ? known : { ...known, queued: [...known.queued, job_id] }
    }
    case 'TrainingJobLeased': {
      const { job_id, lease_id, worker, expires_at } = data
      const lease = { job_id, lease_id, worker, expires_at }
      // A late worker that gets its lease back has worked meanwhile.
      const before = model?.held?.lease_id === lease_id ? model.held.ms + LEASE_MS : 0
      const held = { lease_id, ms: before }
      return model && { ...without(model, job_id), lease, held }
    }
    case 'TrainingLeaseExtended': {
      if (model?.lease == null) return model
      const { lease_id, expires_at } = data
      const extended = Date.parse(expires_at) - Date.parse(model.lease.expires_at)
      // Capped for a service that was down, a computer that was suspended, or a clock that was set.
      const ms = (model.held?.ms ?? 0) + Math.min(Math.max(0, extended), LEASE_MS)
      return { ...model, lease: { ...model.lease, expires_at }, held: { lease_id, ms } }
    }
    case 'TrainingLeaseEnded':
      return model && { ...model, lease: null, queued: [data.job_id, ...without(model, data.job_id).queued] }
    case 'TrainingEnded':
    case 'TrainingFailed':
      return (
        model && {
          ...without(model, data.job_id),
          lease: model.lease?.job_id === data.job_id ? null : model.lease,
        }
      )
    default:
      return model
  }
}

const without = (model: ModelQueue, jobId: string): ModelQueue => ({
  ...model,
  queued: model.queued.filter((one) => one !== jobId),
})

const index: Omit<Reactor<IndexState>, 'react'> = {
  name: 'training',
  types: new Set([
    'ModelCreated',
    'ModelDeleted',
    'TrainingJobQueued',
    'TrainingJobLeased',
    'TrainingLeaseExtended',
    'TrainingLeaseEnded',
    'CheckpointSaved',
    'TrainingEnded',
    'TrainingFailed',
    'WorkerRegistered',
  ]),
  initialState: () => ({ models: new Map(), queues: new Map(), workers: new Map() }),
  evolve,
  snapshot: {
    encode: ({ models, queues, workers }) =>
      ({
        models: [...models.values()],
        queues: [...queues.values()],
        workers: [...workers.values()],
      }) as unknown as Json,
    decode: (encoded) => {
      if (!isJsonObject(encoded)) return undefined
      const listed = <A>(name: string, keyOf: (one: A) => string) =>
        new Map(((encoded[name] ?? []) as unknown as readonly A[]).map((one) => [keyOf(one), one]))
      const models = listed<NamedModel>('models', ({ model_id }) => model_id)
      // Of a release that kept less of a model.
      if ([...models.values()].some(({ isNamed }) => (isNamed as unknown) === undefined)) return undefined
      return {
        models,
        queues: listed<ModelQueue>('queues', ({ model_id }) => model_id),
        workers: listed<WorkerRegistered>('workers', ({ worker }) => worker),
      }
    },
  },
}

interface IndexPorts {
  readonly eventStore: Pick<EventStore, 'subscribeAll' | 'readStream' | 'head'>
  readonly snapshots: Snapshots
  readonly log: Pick<Log, 'info' | 'warn'>
}

export const startJobIndex = async (ports: IndexPorts): Promise<JobIndex> => {
  const waiting = new Set<() => void>()
  const react = () => {
    for (const wake of waiting) wake()
    return undefined
  }
  const reactor: RunningReactor<IndexState> = await startReactor({ ...index, react }, ports)
  return {
    queues: () => [...reactor.state().queues.values()],
    models: () => [...reactor.state().models.values()],
    workers: () => [...reactor.state().workers.values()],
    waitForChange: (withinMs, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', wake)
          waiting.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, withinMs)
        signal.addEventListener('abort', wake)
        waiting.add(wake)
        if (signal.aborted) wake()
      }),
    isCaughtUp: reactor.isCaughtUp,
    stop: reactor.stop,
  }
}

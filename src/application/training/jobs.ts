import {
  trainingJobStream,
  type TrainedModelEvent,
  type TrainingJobCreated,
} from '../../domain/training/events.js'
import { trainedModelStream } from '../../domain/training/events.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Cause } from '../../kernel/event.js'
import { newEvent } from '../../kernel/event.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { throwIfRefused } from '../access/rights.js'
import { Failure } from '../failure.js'
import { isReported, type TrainedModels } from './trained-models.js'

export const noSuchJob = (): Failure => new Failure('not-found', 'Training job not found.')

/** What a job is to do; undefined if there is no such job. */
export const readJob = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  jobId: string,
): Promise<TrainingJobCreated | undefined> => {
  for await (const { data } of eventStore.readStream(trainingJobStream(jobId), { limit: 1 }))
    return data as TrainingJobCreated
  return undefined
}

/** Records what the job is to do, and appends it to the queue of its model. A crash between the two leaves no job. */
export const createJob =
  (ports: Pick<Ports, 'eventStore' | 'ids'>, models: TrainedModels) =>
  async (job: TrainingJobCreated, cause: Cause): Promise<Position | undefined> => {
    const created = newEvent(ports.ids.next(), { type: 'TrainingJobCreated', data: job }, cause)
    await ports.eventStore.append(trainingJobStream(job.job_id), 'none', [created])
    const { job_id, kind, base_model, created_at: now } = job
    const written = await models.write(
      job.model_id,
      { type: 'QueueJob', job_id, kind, base_model, now },
      cause,
    )
    throwIfRefused(written.refusals.get(0))
    return written.readableAt
  }

/** An event of a job as its clients read it. */
export interface JobEvent {
  readonly id: string
  readonly type: 'training_started' | 'gradient_step' | 'training_ended' | 'training_failed'
  readonly data: JsonObject
  readonly created_at: string
}

/** The id of an event has the beginning of the job's id and its place in the stream, so that it can be a cursor. */
const HEAD = 24

const eventId = (jobId: string, revision: bigint): string =>
  jobId.slice(0, HEAD) + revision.toString(16).padStart(12, '0')

const revisionIn = (jobId: string, eventId: string): bigint | undefined => {
  const place = eventId.slice(HEAD)
  return eventId.startsWith(jobId.slice(0, HEAD)) && /^[0-9a-f]{12}$/.test(place)
    ? BigInt(`0x${place}`)
    : undefined
}

export interface JobEventPage {
  readonly after: string | undefined
  readonly limit: number
  /** By default oldest first. */
  readonly newestFirst?: boolean
}

/** The events of a job after a cursor. @throws Failure for a cursor that is no event of the job */
export const jobEvents =
  ({ eventStore }: Pick<Ports, 'eventStore'>, models: TrainedModels) =>
  async (
    { model_id, job_id }: Pick<TrainingJobCreated, 'model_id' | 'job_id'>,
    { after, limit, newestFirst = false }: JobEventPage,
  ): Promise<{ readonly data: readonly JobEvent[]; readonly has_more: boolean }> => {
    const range = await models.readJobs(model_id, ({ ranges }) => ranges.get(job_id))
    const cursor = after === undefined ? undefined : revisionIn(job_id, after)
    const isEvent =
      cursor !== undefined && range !== undefined && cursor >= range.first && cursor <= range.last
    if (after !== undefined && !isEvent)
      throw new Failure('not-found', `No event of the training job has the id ${after}.`)
    const data: JobEvent[] = []
    if (range === undefined) return { data, has_more: false }
    const [start, step] = newestFirst ? [range.last, -1n] : [range.first, 1n]
    const from = cursor === undefined ? start : cursor + step
    if (from < range.first || from > range.last) return { data, has_more: false }
    const options = { from, backwards: newestFirst }
    for await (const recorded of eventStore.readStream(trainedModelStream(model_id), options)) {
      if (recorded.revision < range.first || recorded.revision > range.last) break
      const event = recorded as unknown as TrainedModelEvent
      if (!isReported(recorded) || !('job_id' in event.data) || event.data.job_id !== job_id) continue
      if (data.length === limit) return { data, has_more: true }
      data.push({
        id: eventId(job_id, recorded.revision),
        ...eventContent(event),
        created_at: recorded.recordedAt.toISOString(),
      })
    }
    return { data, has_more: false }
  }

const eventContent = (event: TrainedModelEvent): Pick<JobEvent, 'type' | 'data'> => {
  switch (event.type) {
    case 'TrainingStarted':
      return { type: 'training_started', data: { num_sequences: event.data.num_sequences } }
    case 'GradientStepLogged':
      return { type: 'gradient_step', data: event.data.metrics }
    case 'TrainingFailed':
      return { type: 'training_failed', data: { error_message: event.data.error_message } }
    default:
      return { type: 'training_ended', data: {} }
  }
}

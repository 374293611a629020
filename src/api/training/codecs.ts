import type { Codec } from '../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean, int64, jsonObject, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { stepMetrics } from '../../domain/training/events.js'
import { integerInQuery } from '../server/integer-in-query.js'

const USUAL_LIMIT = 20
const LARGEST_LIMIT = 100
/** A page of the web interface reads all events of a job. */
const MOST_EVENTS = 2000

const pageFields = {
  limit: withDefault(integerInQuery(1, LARGEST_LIMIT), USUAL_LIMIT),
  after: withDefault(string, undefined),
}
export const eventsQuery = open('TrainingEventsQuery', {
  optional: { ...pageFields, limit: withDefault(integerInQuery(1, MOST_EVENTS), USUAL_LIMIT) },
})
export const checkpointsQuery = open('CheckpointsQuery', {
  optional: { ...pageFields, order: withDefault(oneOf('asc', 'desc'), 'asc' as const) },
})

const listOf = <A>(item: Codec<A>) =>
  open(`${item.name}Page`, {
    required: {
      object: oneOf('list'),
      data: arrayOf(item),
      first_id: string,
      last_id: string,
      has_more: boolean,
    },
  })

/** A page in the form of OpenAI's lists. The next one is asked for with `after`, the id of the last item. */
export const page = <A extends { readonly id: string }>(data: readonly A[], has_more: boolean) => ({
  object: 'list' as const,
  data,
  first_id: data[0]?.id ?? '',
  last_id: data.at(-1)?.id ?? '',
  has_more,
})

export const model = open('TrainedModel', {
  required: {
    id: string,
    entity: string,
    project: string,
    name: string,
    base_model: string,
    run_id: string,
    created_at: string,
  },
})

const checkpoint = open('Checkpoint', {
  required: { id: string, step: int64, metrics: stepMetrics, created_at: string },
})
export const checkpointList = listOf(checkpoint)

const jobEvent = open('TrainingEvent', {
  required: {
    id: string,
    type: oneOf('training_started', 'gradient_step', 'training_ended', 'training_failed'),
    data: jsonObject,
    created_at: string,
  },
})
export const jobEventList = listOf(jobEvent)

export const job = open('TrainingJob', {
  required: {
    id: string,
    model_id: string,
    kind: oneOf('rl', 'sft'),
    base_model: string,
    state: oneOf('queued', 'running', 'succeeded', 'failed', 'cancelled'),
    error_message: nullable(string),
    /** The step of its checkpoint. */
    step: nullable(int64),
    /** How many jobs of the model are before it. */
    queue_position: nullable(int64),
    worker: nullable(string),
    created_at: string,
    ended_at: nullable(string),
  },
})

export const createdJob = open('CreatedTrainingJob', { required: { id: string } })

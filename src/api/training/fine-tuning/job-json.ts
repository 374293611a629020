import type { JobEvent } from '../../../application/training/jobs.js'
import type { FineTuning } from '../../../domain/training/fine-tuning.js'
import type { TrainingJob } from '../../../domain/training/state.js'
import { entityOf } from '../../../kernel/ids.js'
import type { JsonObject } from '../../../kernel/json/json.js'
import { seconds } from './codecs.js'
import type { FineTuningServices } from './project.js'
import { metricsOf, resultFileId } from './results.js'

export const PREFIX = 'ftjob-'

/** A job as OpenAI's API answers it. */
export const jobJson = async (
  { training: { models }, clock }: Pick<FineTuningServices, 'training' | 'clock'>,
  tuning: FineTuning,
) => {
  const { job_id, model_id, model_name, given, seed, created_at, project_id } = tuning
  const known = await models.readJobs(model_id, ({ state }) => state.jobs.get(job_id))
  const state = known?.state ?? 'queued'
  const isDone = state === 'succeeded'
  const fileOf = (name: string) => (typeof given[name] === 'string' ? given[name] : null)
  const hyperparameters = tuning.hyperparameters ?? ((given['hyperparameters'] ?? {}) as JsonObject)
  return {
    id: PREFIX + job_id,
    object: 'fine_tuning.job' as const,
    created_at: seconds(created_at),
    finished_at: known?.endedAt == null ? null : seconds(known.endedAt),
    model: String(fileOf('model')),
    fine_tuned_model: isDone ? `wandb-artifact:///${project_id}/${model_name}` : null,
    organization_id: entityOf(project_id),
    status: state,
    training_file: String(fileOf('training_file')),
    validation_file: fileOf('validation_file'),
    result_files: isDone ? [resultFileId(job_id)] : [],
    trained_tokens: isDone ? (known?.tokens ?? null) : null,
    estimated_finish: known === undefined ? null : estimatedFinish(known, clock.now().getTime()),
    seed: seed ?? 0,
    hyperparameters,
    method: { type: 'supervised', supervised: { hyperparameters } },
    metadata: (given['metadata'] ?? {}) as JsonObject,
    integrations: [],
    error:
      known?.error == null || state !== 'failed'
        ? null
        : { code: 'training_failed', message: known.error, param: null },
  }
}

/** In seconds, by the steps so far; null before the first. */
const estimatedFinish = (
  { state, startedAt, reports, expectedSteps }: TrainingJob,
  now: number,
): number | null => {
  const done = reports - 1
  if (state !== 'running' || startedAt === null || expectedSteps === null || done <= 0) return null
  const since = Date.parse(startedAt)
  return Math.ceil((since + ((now - since) * Math.max(done, expectedSteps)) / done) / 1000)
}

export const eventJson = ({ id, type, data, created_at }: JobEvent) => {
  const event = {
    id: `ftevent-${id}`,
    object: 'fine_tuning.job.event' as const,
    created_at: seconds(created_at),
    level: type === 'training_failed' ? ('error' as const) : ('info' as const),
    type: 'message' as const,
    data: {} as JsonObject,
  }
  switch (type) {
    case 'training_started':
      return { ...event, message: `The job has started, with ${Number(data['num_sequences'])} steps.` }
    case 'gradient_step': {
      const metrics = metricsOf(data as Readonly<Record<string, number>>)
      return {
        ...event,
        type: 'metrics' as const,
        message: `Training loss ${Number(data['loss'])}`,
        data: metrics,
      }
    }
    case 'training_failed':
      return { ...event, message: typeof data['error_message'] === 'string' ? data['error_message'] : '' }
    default:
      return { ...event, message: 'The job has successfully completed' }
  }
}

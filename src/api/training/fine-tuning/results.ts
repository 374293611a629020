import { jobEvents } from '../../../application/training/jobs.js'
import type { FineTuning } from '../../../domain/training/fine-tuning.js'
import { seconds } from './codecs.js'
import type { FineTuningServices } from './project.js'

/** The metrics of a step under the names of this API. */
export const metricsOf = ({
  loss,
  validation_loss,
  ...more
}: Readonly<Record<string, number>>): Readonly<Record<string, number>> => ({
  ...(loss === undefined ? {} : { train_loss: loss }),
  ...(validation_loss === undefined ? {} : { valid_loss: validation_loss }),
  ...more,
})

const PREFIX = 'file-'

/** The file with the metrics of a job, which has a name in the API of OpenAI. */
export const resultFileId = (jobId: string): string => PREFIX + jobId

export const jobOfResultFile = (fileId: string): string => fileId.slice(PREFIX.length)

/** The first columns of the files of OpenAI. Other metrics follow by name. */
const COLUMNS = ['step', 'train_loss', 'train_accuracy', 'valid_loss', 'valid_mean_token_accuracy']

/** The metrics of each gradient step as CSV; undefined for a job that has not succeeded. */
export const resultFile = async (services: FineTuningServices, tuning: FineTuning) => {
  const { models } = services.training
  const { job_id, model_id } = tuning
  const job = await models.readJobs(model_id, ({ state }) => state.jobs.get(job_id))
  if (job?.state !== 'succeeded') return undefined
  const { data } = await jobEvents(services, models)(tuning, {
    after: undefined,
    limit: Number.MAX_SAFE_INTEGER,
  })
  const steps = data
    .filter(({ type }) => type === 'gradient_step')
    .map((event, at): Readonly<Record<string, number>> => ({
      ...metricsOf(event.data as Readonly<Record<string, number>>),
      step: at + 1,
    }))
  const others = new Set(steps.flatMap((step) => Object.keys(step)))
  for (const column of COLUMNS) others.delete(column)
  const columns = [...COLUMNS, ...[...others].sort()]
  const rows = [
    columns.map(quoted),
    ...steps.map((step) => columns.map((column) => String(step[column] ?? ''))),
  ]
  const content = Buffer.from(rows.map((row) => `${row.join(',')}\n`).join(''))
  const file = {
    id: resultFileId(job_id),
    object: 'file' as const,
    bytes: content.length,
    created_at: seconds(job.endedAt!),
    filename: 'step_metrics.csv',
    purpose: 'fine-tune-results',
    status: 'processed' as const,
  }
  return { file, content }
}

/** Workers name metrics. */
const quoted = (name: string): string => (/[",\n\r]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)

import { checkedData, stepsOf } from '../../../application/training/sft-data.js'
import { findStart, type Start } from '../../../application/training/start.js'
import { createJob } from '../../../application/training/jobs.js'
import { isServed } from '../../../application/training/services.js'
import { throwIfRefused } from '../../../application/access/rights.js'
import { invalidField } from '../../../application/failure.js'
import type { Principal } from '../../../application/principal.js'
import type { FineTuning } from '../../../domain/training/fine-tuning.js'
import { trainedModelId } from '../../../domain/training/model-id.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import type { Cause } from '../../../kernel/event.js'
import { entityOf } from '../../../kernel/ids.js'
import { noSuchFile } from './files.js'
import { trainingOf, type NewFineTuning } from './new-job.js'
import type { FineTunings } from '../../../application/training/fine-tunings.js'
import type { FineTuningServices } from './project.js'

/** Checks the files of a new job, and creates the job with the model that it trains. */
export const jobCreation = (services: FineTuningServices, tunings: FineTunings) => {
  const { training, ids, clock, sha256 } = services
  const { models } = training

  const dataIn = async (project: string, id: string, param: string, isBuiltIn: boolean) => {
    const file = await tunings.read(project, ({ files }) => files.get(id))
    if (file === undefined) throw noSuchFile(id, param)
    const { filename: path, blob, bytes: size } = file
    return checkedData(services, { path, blob, size }, { isBuiltIn, field: [param] })
  }

  /** A base model, or a checkpoint by the name that chat has for it. */
  const startOf = async (principal: Principal, project: string, name: string): Promise<Start> => {
    const canSee = (project: string) => services.access.canAccessProject(principal, project)
    const start = (await findStart(services, name, canSee)) ?? { baseModel: name, from: null }
    if (isServed(training, start.baseModel, entityOf(project))) return start
    throw invalidField(
      ['model'],
      'value_error',
      `No worker fine-tunes ${name}. The service itself trains ${[...training.builtIn].join(', ')}, and what was trained from them`,
    )
  }

  return async (project: string, given: NewFineTuning, principal: Principal, cause: Cause) => {
    const { baseModel, from } = await startOf(principal, project, given.model)
    const isBuiltIn = training.builtIn.has(baseModel)
    const config = trainingOf(given, isBuiltIn)
    const data = await dataIn(project, given.training_file, 'training_file', isBuiltIn)
    stepsOf(data.conversations, { ...config, isBuiltIn })
    const validation =
      given.validation_file === null
        ? null
        : await dataIn(project, given.validation_file, 'validation_file', isBuiltIn)
    const job_id = ids.next()
    const model_name = `ft-${(given.suffix ?? 'model').replace(/[^A-Za-z0-9_.-]/g, '-')}-${sha256(job_id).slice(0, 8)}`
    const model_id = trainedModelId(sha256, project, model_name)
    const created_at = instantOf(clock.now())
    const model = {
      type: 'CreateModel',
      model_id,
      project_id: project,
      name: model_name,
      base_model: baseModel,
      ofFineTuning: true,
      returnExisting: true,
      now: created_at,
    } as const
    throwIfRefused((await models.write(model_id, model, cause, () => undefined)).refusals.get(0))
    const job = {
      model_id,
      project_id: project,
      job_id,
      kind: 'sft' as const,
      base_model: baseModel,
      input: data.blob,
      config: { epochs: config.epochs, batch_size: config.batchSize, learning_rate: config.learningRate },
      created_at,
      training_data_url: null,
      validation: validation?.blob ?? null,
      from,
    }
    const readableAt = await createJob(services, models)(job, cause)
    const tuning: FineTuning = {
      project_id: project,
      job_id,
      model_id,
      model_name,
      given: given,
      created_at,
      seed: given.seed,
      hyperparameters: config.hyperparameters,
    }
    await tunings.write(project, { type: 'AddFineTuning', job: tuning }, cause)
    return { tuning, readableAt }
  }
}

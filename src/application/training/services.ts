import type { Collections } from '../artifacts/collections.js'
import type { TrainedModels } from './trained-models.js'
import type { JobIndex } from './job-index.js'
import type { TrainingLeases } from './leases.js'

/** What the parts of the service share that train models and use them. */
export interface Training {
  readonly models: TrainedModels
  readonly collections: Collections
  readonly index: JobIndex
  readonly work: TrainingLeases
  /** The base models that the engine of the service trains. */
  readonly builtIn: ReadonlySet<string>
  /** Aborted when the service begins to stop: workers that wait for a job are answered. */
  readonly stopping: AbortSignal
}

/** Whether a worker trains a base model for a team. */
export const isServed = (
  { index, builtIn }: Pick<Training, 'index' | 'builtIn'>,
  baseModel: string,
  team: string,
): boolean =>
  builtIn.has(baseModel) ||
  index
    .workers()
    .some(
      ({ base_models, teams }) => base_models.includes(baseModel) && (teams === null || teams.includes(team)),
    )

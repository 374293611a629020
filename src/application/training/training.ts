import type { Collections } from '../artifacts/collections.js'
import type { TrainedModels } from './trained-models.js'
import type { TrainingBoard } from './training-board.js'
import type { TrainingWork } from './work.js'

/** What the parts of the service share that train models and use them. */
export interface Training {
  readonly models: TrainedModels
  readonly collections: Collections
  readonly board: TrainingBoard
  readonly work: TrainingWork
  /** The base models that the engine of the service trains. */
  readonly builtIn: ReadonlySet<string>
}

/** Whether a worker trains a base model for a team. */
export const isServed = (
  { board, builtIn }: Pick<Training, 'board' | 'builtIn'>,
  baseModel: string,
  team: string,
): boolean =>
  builtIn.has(baseModel) ||
  board
    .workers()
    .some(
      ({ base_models, teams }) => base_models.includes(baseModel) && (teams === null || teams.includes(team)),
    )

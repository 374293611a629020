import type { TrainedModelCommand } from '../../domain/training/commands.js'
import { trainedModelDecider } from '../../domain/training/decider.js'
import type { ModelState } from '../../domain/training/state.js'
import { trainedModelStream, type TrainedModelEvent } from '../../domain/training/events.js'
import type { Cause } from '../../kernel/event.js'
import type { ExecuteResult } from '../../kernel/execute.js'
import { executeOnFold, foldCache } from '../../kernel/fold-cache.js'
import type { Ports } from '../../kernel/ports/ports.js'

/** Revisions of the first and the last event of a job in the stream of its model. */
export interface JobRange {
  readonly first: bigint
  readonly last: bigint
}

/** A model, and where the events of its jobs are. */
export interface KeptModel {
  readonly state: ModelState
  readonly ranges: Map<string, JobRange>
  readonly lastEventAt: Date | null
}

export interface TrainedModels {
  /** Undefined if there is no such model. `read` must not keep the model, which later events change in place. */
  readonly read: <A>(modelId: string, read: (model: KeptModel) => A) => Promise<A | undefined>
  /** As `read`, for the jobs of a model that may be deleted: their clients still wait for the end. */
  readonly readJobs: <A>(modelId: string, read: (model: KeptModel) => A) => Promise<A>
  /** `answer` gets the model before the events. */
  readonly write: <Answer = undefined>(
    modelId: string,
    command: TrainedModelCommand,
    cause: Cause,
    answer?: (before: ModelState, events: readonly TrainedModelEvent[]) => Answer,
  ) => Promise<ExecuteResult<Answer, TrainedModelEvent>>
}

/** Jobs and checkpoints of models whose folds are kept: about 50 MB. */
const MOST = 100_000

/** Events that clients read as the events of a job. */
const REPORTED: ReadonlySet<TrainedModelEvent['type']> = new Set([
  'TrainingStarted',
  'GradientStepLogged',
  'TrainingEnded',
  'TrainingFailed',
])

export const isReported = ({ type }: { readonly type: string }): boolean =>
  REPORTED.has(type as TrainedModelEvent['type'])

export const openTrainedModels = (ports: Pick<Ports, 'eventStore' | 'ids'>): TrainedModels => {
  const folds = foldCache<KeptModel>(
    ports,
    {
      initialState: () => ({
        state: trainedModelDecider.initialState(),
        ranges: new Map(),
        lastEventAt: null,
      }),
      evolve: ({ state, ranges }, recorded) => {
        const event = recorded as unknown as TrainedModelEvent
        if (isReported(recorded) && 'job_id' in event.data) {
          const first = ranges.get(event.data.job_id)?.first ?? recorded.revision
          ranges.set(event.data.job_id, { first, last: recorded.revision })
        }
        return { state: trainedModelDecider.evolve(state, event), ranges, lastEventAt: recorded.recordedAt }
      },
      weightOf: ({ state: { jobs, checkpoints } }) => 1 + jobs.size + checkpoints.size,
    },
    MOST,
  )
  return {
    read: (modelId, read) =>
      folds(trainedModelStream(modelId), ({ state: kept }) =>
        kept.state.created === null || kept.state.deleted ? undefined : read(kept),
      ),
    readJobs: (modelId, read) => folds(trainedModelStream(modelId), ({ state }) => read(state)),
    write: <Answer>(
      modelId: string,
      command: TrainedModelCommand,
      cause: Cause,
      answer: (before: ModelState, events: readonly TrainedModelEvent[]) => Answer = () =>
        undefined as Answer,
    ) =>
      executeOnFold(ports)(
        (stream, read) => folds(stream, (loaded) => read({ ...loaded, state: loaded.state.state })),
        trainedModelDecider,
        trainedModelStream(modelId),
        command,
        cause,
        answer,
      ),
  }
}

import {
  evaluationDecider,
  evaluationStream,
  type EvaluationCommand,
  type EvaluationRunRequested,
} from '../../domain/evaluations/evaluation-run.js'
import {
  decodeEvaluation,
  tableOfDataset,
  type EvaluationObject,
} from '../../domain/evaluations/evaluation-object.js'
import { resolveMessages } from '../../domain/evaluations/resolve-judge.js'
import { isEvaluationRun } from '../../domain/evaluations/run-calls.js'
import { decodeJudgeModel } from '../../domain/evaluations/scorers/judge-settings.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { commandsOf } from '../../kernel/execute.js'
import { tableStats } from '../../projections/tables/queries.js'
import { Failure, invalidField } from '../failure.js'
import type { Services } from '../services.js'
import { callNow } from './parsed-call.js'
import { countRows } from './status.js'
import {
  nestedObjects,
  orInvalid,
  requireObject,
  requireScorers,
  type ObjectReads,
} from './referenced-objects.js'
import type { RunUser } from './user-reads.js'

const streamOf = (command: EvaluationCommand): string => {
  const { project_id, id } =
    command.type === 'RequestEvaluationRun'
      ? command.request
      : command.type === 'FinishEvaluationRun'
        ? command.finished
        : command
  return evaluationStream(project_id, id)
}

/** Claims, cancels or finishes a run. */
export const writeRun = commandsOf(evaluationDecider, streamOf)

const newRun = commandsOf(evaluationDecider, streamOf, { assumeNew: true })

type RequestServices = Pick<Services, 'eventStore' | 'blobs' | 'ids' | 'clock' | 'scoringTools'>

type OfRun = Pick<EvaluationRunRequested, 'project_id' | 'id'>

/** The request is in the log when it is answered, and a dispatcher does the work. */
const requestRun = (
  services: RequestServices,
  { userId, keyId }: RunUser,
  run: Omit<EvaluationRunRequested, 'requested_at' | 'wb_user_id' | 'key_id'>,
) => {
  const requested_at = instantOf(services.clock.now())
  const request = { ...run, requested_at, wb_user_id: userId, key_id: keyId }
  return newRun(services, { type: 'RequestEvaluationRun', request })
}

/** Requests that scorers are applied to the predictions of a run. */
export const requestRescore = async (
  services: RequestServices,
  reads: ObjectReads,
  user: RunUser,
  run: OfRun & { readonly source_evaluation_run_id: string; readonly scorer_refs: readonly string[] },
) => {
  const { project_id, source_evaluation_run_id: source, scorer_refs } = run
  await requireLoggedRun(services, project_id, source)
  await requireScorers(services.scoringTools, reads, scorer_refs, ['scorer_refs'])
  const position = await reads.positionOf(project_id)
  const total_rows = await countRows(reads.reader, project_id, source, position!)
  return requestRun(services, user, { kind: 'rescore', ...run, total_rows, evaluation: null, model: null })
}

const requireLoggedRun = async (services: RequestServices, project: string, id: string): Promise<void> => {
  const call = await callNow(services, project, id)
  if (call === undefined)
    throw new Failure('not-found', `Evaluation run ${id} not found in project ${project}.`)
  if (!isEvaluationRun(call.op_name, call.attributes))
    throw invalidField(
      ['source_evaluation_run_id'],
      'value_error',
      'Value error, the call is not an evaluation run',
    )
}

/** Requests that a model is asked about every row of a dataset. */
export const requestModelEvaluation = async (
  services: RequestServices,
  reads: ObjectReads,
  user: RunUser,
  run: OfRun & { readonly evaluation_ref: string; readonly model_ref: string },
) => {
  const { evaluation_ref, model_ref, ...ofRun } = run
  const evaluation = orInvalid(
    ['evaluation_ref'],
    decodeEvaluation(await requireObject(reads, evaluation_ref, ['evaluation_ref'])),
  )
  const model = orInvalid(
    ['model_ref'],
    decodeJudgeModel(await requireObject(reads, model_ref, ['model_ref'])),
  )
  orInvalid(['model_ref'], await resolveMessages(model_ref, model, nestedObjects(reads)))
  await requireScorers(services.scoringTools, reads, evaluation.scorers, ['evaluation_ref', 'scorers'])
  return requestRun(services, user, {
    kind: 'evaluate_model',
    ...ofRun,
    scorer_refs: evaluation.scorers,
    source_evaluation_run_id: null,
    total_rows: (await datasetSize(reads, evaluation)) * evaluation.trials,
    evaluation: evaluation_ref,
    model: model_ref,
  })
}

/** The rows of the dataset's table, which has to exist. */
const datasetSize = async (reads: ObjectReads, { dataset }: EvaluationObject): Promise<number> => {
  const field = ['evaluation_ref', 'dataset']
  const table = tableOfDataset(dataset, await requireObject(reads, dataset, field))
  if (table !== undefined) {
    const position = await reads.positionOf(table.projectId)
    const [stats] =
      position === undefined ? [] : await tableStats(reads.reader)(table.projectId, [table.digest], position)
    if (stats !== undefined) return stats.row_count
  }
  throw invalidField(field, 'value_error', 'Value error, the dataset has no table of rows in its project')
}

import type { Ports } from '../../kernel/ports/ports.js'
import { presentPositions } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { nullable } from '../../kernel/codec/containers.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { evaluationDecider, evaluationStream } from '../../domain/evaluations/evaluation-run.js'
import {
  decodeEvaluation,
  tableOfDataset,
  type EvaluationObject,
} from '../../domain/evaluations/evaluation-object.js'
import { resolveMessages } from '../../domain/evaluations/resolve-judge.js'
import { decodeJudgeModel } from '../../domain/evaluations/scorers/judge-settings.js'
import { projectId } from '../../kernel/ids.js'
import { tableStats } from '../../projections/tables/queries.js'
import { execute } from '../../kernel/execute.js'
import { inBody } from '../server/authorization.js'
import { invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { idFor } from '../server/generated-id.js'
import {
  nestedObjects,
  orInvalid,
  refuseUser,
  requireObject,
  requireScorers,
  type ObjectReads,
} from '../../application/evaluations/referenced-objects.js'

const evaluateModelRequest = open('EvaluateModelRequest', {
  required: { project_id: projectId, evaluation_ref: string, model_ref: string },
  optional: { wb_user_id: nullable(string) },
})

const evaluateModelResponse = open('EvaluateModelResponse', {
  required: { call_id: string, evaluation_run_id: string },
})

/** `POST /evaluations/evaluate_model`: the request is in the log when it is answered, and a dispatcher does the work. */
export const evaluateModelRoute = (
  services: Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle' | 'scoringTools'>,
): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/evaluations/evaluate_model',
    summary:
      'Ask an LLMStructuredCompletionModel about every row of the dataset of an Evaluation object, through the ' +
      'gateway, and score the answers. Poll the returned call_id with /evaluations/status.',
    body: evaluateModelRequest,
    requestHeaders: [...alsoReads.requestHeaders, 'Idempotency-Key'],
    errors: [...alsoReads.errors, 'conflict', 'not-found'],
    response: evaluateModelResponse,
    project: inBody,
    handle: async (request) => {
      const { body, principal } = request
      const { project_id, evaluation_ref, model_ref } = body
      refuseUser(body.wb_user_id)
      const reads = { reader: request.reader, positionOf: presentPositions(services, request) }
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
      const total_rows = (await datasetSize(reads, evaluation)) * evaluation.trials
      const id = idFor(services, request, 0)
      const command = {
        type: 'RequestEvaluationRun',
        request: {
          kind: 'evaluate_model',
          project_id,
          id,
          scorer_refs: evaluation.scorers,
          source_evaluation_run_id: null,
          total_rows,
          requested_at: instantOf(services.clock.now()),
          wb_user_id: principal.userId,
          key_id: principal.keyId,
          evaluation: evaluation_ref,
          model: model_ref,
        },
      } as const
      const stream = evaluationStream(project_id, id)
      return writing(
        (cause) => execute(services)(evaluationDecider, stream, [command], cause, { assumeNew: true }),
        () => ({ call_id: id, evaluation_run_id: id }),
      )
    },
  })

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

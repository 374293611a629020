import type { Ports } from '../../kernel/ports/ports.js'
import { presentConditionsIn, presentPositions } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { evaluationDecider, evaluationStream } from '../../domain/evaluations/evaluation-run.js'
import { isEvaluationRun } from '../../domain/evaluations/run-calls.js'
import { id as idCodec, projectId } from '../../kernel/ids.js'
import { execute } from '../../kernel/execute.js'
import { inBody } from '../server/authorization.js'
import { Failure, invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { idFor } from '../server/generated-id.js'
import { countRows } from '../../application/evaluations/progress.js'
import { refuseUser, requireScorers } from '../../application/evaluations/referenced-objects.js'

const rescoreRequest = open('RescoreRequest', {
  required: { project_id: projectId, source_evaluation_run_id: idCodec, scorer_refs: arrayOf(string, 1) },
  optional: { wb_user_id: nullable(string) },
})

const rescoreResponse = open('RescoreResponse', { required: { call_id: string, evaluation_run_id: string } })

/** `POST /evaluations/rescore`: the request is in the log when it is answered, and a dispatcher does the work. */
export const rescoreRoute = (
  services: Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle' | 'scoringTools'>,
): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/evaluations/rescore',
    summary:
      'Apply scorers to the predictions of an evaluation run, as a new run. The model is not asked again. ' +
      'Poll the returned call_id with /evaluations/status.',
    body: rescoreRequest,
    requestHeaders: [...alsoReads.requestHeaders, 'Idempotency-Key'],
    errors: [...alsoReads.errors, 'conflict', 'not-found'],
    response: rescoreResponse,
    project: inBody,
    handle: async (request) => {
      const { body, principal } = request
      const { project_id, source_evaluation_run_id, scorer_refs } = body
      refuseUser(body.wb_user_id)
      const reads = { reader: request.reader, positionOf: presentPositions(services, request) }
      await requireRun(services, project_id, source_evaluation_run_id)
      await requireScorers(services.scoringTools, reads, scorer_refs, ['scorer_refs'])
      const id = idFor(services, request, 0)
      const position = await services.reading.waitForNow(project_id, presentConditionsIn(request.headers))
      const command = {
        type: 'RequestEvaluationRun',
        request: {
          kind: 'rescore',
          project_id,
          id,
          scorer_refs,
          source_evaluation_run_id,
          requested_at: instantOf(services.clock.now()),
          total_rows: await countRows(request.reader, project_id, source_evaluation_run_id, position),
          wb_user_id: principal.userId,
          key_id: principal.keyId,
          evaluation: null,
          model: null,
        },
      } as const
      const stream = evaluationStream(project_id, id)
      return writing(
        (cause) => execute(services)(evaluationDecider, stream, [command], cause, { assumeNew: true }),
        () => ({ call_id: id, evaluation_run_id: id }),
      )
    },
  })

const requireRun = async (
  services: Pick<Services, 'eventStore' | 'blobs'>,
  project: string,
  id: string,
): Promise<void> => {
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

import type { Services } from '../../application/services.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { closed } from '../../kernel/codec/struct.js'
import { evaluationDecider, evaluationStream } from '../../domain/evaluations/evaluation-run.js'
import { id, projectId } from '../../kernel/ids.js'
import { execute } from '../../kernel/execute.js'
import { inBody } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute } from '../server/route.js'
import { changeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'

const cancelRequest = closed('EvaluationCancelRequest', { required: { project_id: projectId, call_id: id } })

/** `POST /evaluations/cancel` */
export const cancelRoute = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access' | 'reading'>,
): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: '/evaluations/cancel',
    summary:
      'Cancel an evaluation run that the service works on. Its scores so far stay; its status becomes failed. Idempotent.',
    body: cancelRequest,
    errors: ['not-found', 'conflict'],
    response: emptyResponse,
    project: inBody,
    handle: ({ body: { project_id, call_id }, principal }) => {
      const command = {
        type: 'CancelEvaluationRun',
        project_id,
        id: call_id,
        userId: principal.userId,
        now: instantOf(services.clock.now()),
      } as const
      const stream = evaluationStream(project_id, call_id)
      return writing((cause) => execute(services)(evaluationDecider, stream, [command], cause))
    },
  })

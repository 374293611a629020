import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import { Failure, invalidField } from '../../application/failure.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { string } from '../../kernel/codec/leaves.js'
import { inPath } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { idempotent, writeProject } from '../server/route-kinds.js'
import { endCall } from '../../application/calls/record.js'
import { endedCall, startedCall, startWrite } from './client-call.js'
import { idFor } from '../server/idempotency.js'
import { writeCalls, type WriteResult } from '../../application/calls/write-calls.js'

const startRequest = closed('CallStartRequest', { required: { start: startedCall } })
const endRequest = closed('CallEndRequest', { required: { end: endedCall } })

export const started = open('CallStartResponse', { required: { id: string, trace_id: string } })

type CallServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

const startRoute = (services: CallServices, path: string, summary: string): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path,
    summary,
    body: startRequest,
    ...idempotent,
    response: started,
    project: (request) => inPathOr(request.body.start, request),
    handle: (request) => {
      const { start } = request.body
      requireSameProject(request, start, 'start')
      const write = startWrite(start, start.id ?? idFor(services, request, 0, start))
      return async (cause) => {
        const { written, position } = await writeCalls(services)([write], cause)
        const { id, trace_id } = taken(written[0]!)
        return { body: { id, trace_id }, position }
      }
    },
  })

const endRoute = (services: CallServices, path: string, summary: string): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path,
    summary,
    body: endRequest,
    errors: ['conflict'],
    response: emptyResponse,
    project: (request) => inPathOr(request.body.end, request),
    handle: (request) => {
      const { end } = request.body
      requireSameProject(request, end, 'end')
      return async (cause) => {
        const { written, position } = await writeCalls(services)([endCall(end)], cause)
        taken(written[0]!)
        return { body: {}, position }
      }
    },
  })

/** `/call/start` and `/call/end`, also under a project's path. */
export const startAndEndRoutes = (services: CallServices): readonly AnyRoute[] => [
  startRoute(services, '/call/start', 'Record the start of a call.'),
  endRoute(services, '/call/end', 'Record the end of a call.'),
  startRoute(services, '/v2/:entity/:project/call/start', 'Record the start of a call of this project.'),
  endRoute(services, '/v2/:entity/:project/call/end', 'Record the end of a call of this project.'),
]

const taken = (written: WriteResult): WriteResult => {
  const { refused } = written
  if (refused === undefined) return written
  if (refused === 'too-large')
    throw new Failure(
      'too-large',
      'The call is too large for one event, even without inputs, output and attributes.',
    )
  throw new Failure('conflict', refused.reason)
}

const inPathOr = (
  { project_id }: { readonly project_id: string },
  request: Pick<RouteRequest, 'params'>,
): string => (request.params['project'] === undefined ? project_id : inPath(request))

/** Under `/v2/{entity}/{project}` the body must name the same project. */
const requireSameProject = (
  { project }: { readonly project: string },
  { project_id }: { readonly project_id: string },
  part: string,
): void => {
  if (project_id === project) return
  throw invalidField([part, 'project_id'], 'value_error', 'Value error, the project should match the path')
}

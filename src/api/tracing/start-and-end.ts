import { Failure, invalidField } from '../failure.js'
import { closed, open } from '../../domain/codec/struct.js'
import { string } from '../../domain/codec/leaves.js'
import { writesProject } from '../conduct.js'
import { nothingToSay } from '../nothing-to-say.js'
import { projectInPath, requireReading, type Teams } from '../projects/access.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { startedCall, endedCall, type EndedCall, type StartedCall } from './client-call.js'
import { endWrite, startWrite, type CallWrite } from './call-writes.js'
import { idFor } from './generated-id.js'
import { record, type Tracing } from './tracing.js'
import type { Written } from './write-calls.js'

const startRequest = closed('CallStartRequest', { required: { start: startedCall } })
const endRequest = closed('CallEndRequest', { required: { end: endedCall } })

export const started = open('CallStartResponse', { required: { id: string, trace_id: string } })

/** `/call/start` and `/call/end`, alone and under a project's path. */
export const startAndEndRoutes = (tracing: Tracing): readonly AnyRoute[] => {
  const start = async (asked: Asked<{ readonly start: StartedCall }>) => {
    const { start } = asked.body
    requireSameProject(asked, tracing.teams, start.project_id, 'start')
    const { written, position } = await writeOne(
      startWrite(start, start.id ?? idFor(tracing.ports, asked, 0)),
      asked,
    )
    return { body: { id: written.id, trace_id: written.trace_id }, position }
  }

  const end = async (asked: Asked<{ readonly end: EndedCall }>) => {
    requireSameProject(asked, tracing.teams, asked.body.end.project_id, 'end')
    const { position } = await writeOne(endWrite(asked.body.end), asked)
    return { body: {}, position }
  }

  const writeOne = async (write: CallWrite, { principal, cause }: Asked<unknown>) => {
    const { written, position } = await record(tracing)([write], principal, cause)
    return { written: taken(written[0]!), position }
  }

  const fails = [...writesProject.fails, 'conflict'] as const
  const takes = ['Idempotency-Key'] as const
  const starting = { body: startRequest, takes, fails, answer: started, handle: start }
  const ending = { body: endRequest, takes: [], fails, answer: nothingToSay, handle: end }
  return [
    route({ method: 'post', path: '/call/start', summary: 'Record the start of a call.', ...starting }),
    route({ method: 'post', path: '/call/end', summary: 'Record the end of a call.', ...ending }),
    route({
      method: 'post',
      path: '/v2/:entity/:project/call/start',
      summary: 'Record the start of a call of this project.',
      ...starting,
    }),
    route({
      method: 'post',
      path: '/v2/:entity/:project/call/end',
      summary: 'Record the end of a call of this project.',
      ...ending,
    }),
  ]
}

const taken = (written: Written): Written => {
  const { refused } = written
  if (refused === undefined) return written
  if (refused === 'too-large')
    throw new Failure(
      'too-large',
      'The call is too large for one event even without inputs, output and attributes.',
    )
  throw new Failure('conflict', refused.reason)
}

/** Under `/v2/{entity}/{project}` a body may not name another project. */
const requireSameProject = (
  { params, principal }: Asked<unknown>,
  teams: Teams,
  projectId: string,
  part: string,
): void => {
  if (params['project'] === undefined) return
  const named = projectInPath(params)
  requireReading(teams, principal, named)
  if (named === projectId) return
  throw invalidField(
    [part, 'project_id'],
    'value_error',
    'Value error, the project should be the one in the path',
  )
}

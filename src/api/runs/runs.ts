import { instantOf } from '../../domain/codec/instant.js'
import { execute } from '../../domain/execute.js'
import { id as idCodec } from '../../domain/ids.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { RunCommand } from '../../domain/run/commands.js'
import { runDecider } from '../../domain/run/decider.js'
import { runStream } from '../../domain/run/events.js'
import { toldMetrics } from '../../domain/run/given-metrics.js'
import { keptRuns } from '../../domain/run/kept-runs.js'
import { turns } from '../../domain/turns.js'
import { repeatableId } from '../access/idempotency.js'
import { inPath } from '../authorization.js'
import { emptyResponse } from '../empty-response.js'
import { Failure } from '../failure.js'
import type { AnyRoute, RouteRequest } from '../route.js'
import { readProjectLog, writeProject, type ProjectWrites } from '../route-kinds.js'
import { writing, type PlannedWrite } from '../run.js'
import { createdRun, newMetrics, newRun, run, runEnd } from './codecs.js'
import { readRun } from './read-run.js'

export interface Runs extends ProjectWrites {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'sha256' | 'clock'>
}

const RUNS = '/api/runs/:entity/:project'

/** Runs and what they log. */
export const runRoutes = (parts: Runs): readonly AnyRoute[] => {
  const { ports } = parts
  const stateOf = keptRuns(ports)
  const { inTurn } = turns()

  const planned = (command: RunCommand, body: object = {}): PlannedWrite => {
    const stream = runStream(command.project_id, command.run_id)
    const step = command.type === 'LogMetrics' ? command.step : null
    const reload = () => stateOf(stream, step)
    return writing(
      (cause) => inTurn(stream, () => execute(ports)(runDecider, stream, [command], cause, { reload })),
      { respond: () => ({ body }) },
    )
  }

  return [
    writeProject(parts, {
      method: 'post',
      path: RUNS,
      summary: 'Starts a run of the user of the key. Under an id of your own it can be sent again.',
      body: newRun,
      requestHeaders: ['Idempotency-Key'],
      errors: ['conflict'],
      response: createdRun,
      project: inPath,
      handle: ({ body, headers, principal: { userId: user }, project: project_id }) => {
        const made = repeatableId(ports, `${user}\n${project_id}`, headers['idempotency-key'])
        const run_id = body.id ?? made
        const now = instantOf(ports.clock.now())
        return planned({ type: 'StartRun', project_id, run_id, name: body.name, user, now }, { id: run_id })
      },
    }),
    readProjectLog(parts, {
      method: 'get',
      path: `${RUNS}/:run`,
      summary: 'Reads a run: whose it is, whether it has ended, and what it logged last.',
      response: run,
      project: inPath,
      handle: (request) => async () => {
        const body = await readRun(ports, runStream(request.project, runInPath(request)))
        if (body === undefined) throw noSuchRun()
        return { body }
      },
    }),
    writeProject(parts, {
      method: 'post',
      path: `${RUNS}/:run/metrics`,
      summary:
        'Logs metrics of a run. Under a step they can be sent again; without one they are always something new. A metric ' +
        'that is null is passed over.',
      body: newMetrics,
      errors: ['conflict'],
      response: emptyResponse,
      project: inPath,
      handle: (request) => {
        const { metrics, step } = request.body
        const of = { project_id: request.project, run_id: runInPath(request) }
        return planned({ type: 'LogMetrics', ...of, metrics: toldMetrics(metrics), step })
      },
    }),
    writeProject(parts, {
      method: 'post',
      path: `${RUNS}/:run/finish`,
      summary: 'Says how a run ended; once, and the same again changes nothing.',
      body: runEnd,
      errors: ['conflict'],
      response: emptyResponse,
      project: inPath,
      handle: (request) => {
        const of = { project_id: request.project, run_id: runInPath(request) }
        const now = instantOf(ports.clock.now())
        return planned({ type: 'EndRun', ...of, state: request.body.state, now })
      },
    }),
  ]
}

/** No run has a name that is no id. */
const runInPath = ({ params }: Pick<RouteRequest, 'params'>): string => {
  const named = params['run']!
  if (idCodec.is(named)) return named
  throw noSuchRun()
}

const noSuchRun = (): Failure => new Failure('not-found', 'The project has no such run.')

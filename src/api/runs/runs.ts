import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import { instantOf, instant } from '../../kernel/codec/instant.js'
import { execute } from '../../kernel/execute.js'
import { id } from '../../kernel/ids.js'
import type { RunCommand } from '../../domain/runs/commands.js'
import { runDecider } from '../../domain/runs/decider.js'
import { runStream, endState, runName } from '../../domain/runs/events.js'
import { givenMetrics, numbersIn } from '../../domain/runs/given-metrics.js'
import { runCache } from '../../application/runs/run-cache.js'
import { repeatableId } from '../server/idempotency.js'
import { inPath } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readProjectLog, writeProject } from '../server/route-kinds.js'
import { writing, type PlannedWrite } from '../server/run.js'
import { readRun } from '../../application/runs/read-run.js'
import { arrayOf, nullable, nullableText, recordOf } from '../../kernel/codec/containers.js'
import { int64, integerBetween, number, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'

/** A second request with the same id and name is a retry. */
const newRun = closed('NewRun', { required: { name: runName }, optional: { id: nullableText(id) } })

const createdRun = open('CreatedRun', { required: { id } })

/** Steps must be safe integers. */
const step = integerBetween(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)

const newMetrics = closed('NewMetrics', {
  required: { metrics: givenMetrics },
  optional: { step: nullable(step) },
})

const metricsAnswer = open('MetricsAnswer', {
  says: '`warnings` name the metrics that were left out.',
  optional: {
    warnings: nullable(
      arrayOf(open('MetricWarning', { required: { type: string, msg: string, loc: arrayOf(string) } })),
    ),
  },
})

const runEnd = closed('RunEnd', { required: { state: endState } })

const loggedMetrics = open('LoggedMetrics', {
  required: { metrics: recordOf(number), step: nullable(int64) },
})

const run = open('Run', {
  required: {
    id,
    name: string,
    user: string,
    state: oneOf('running', 'finished', 'failed', 'crashed', 'killed'),
    started_at: instant,
    ended_at: nullable(instant),
    last_logged: nullable(loggedMetrics),
  },
})

const RUNS = '/api/runs/:entity/:project'

type RunServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

export const runRoutes = (services: RunServices): readonly AnyRoute[] => {
  const write = writingRuns(services)
  return [startRun(services, write), showRun(services), logMetrics(services, write), endRun(services, write)]
}

type WriteRun = (command: RunCommand, body?: object) => PlannedWrite

const writingRuns = (services: RunServices): WriteRun => {
  const stateOf = runCache(services)
  return (command, body = {}) => {
    const stream = runStream(command.project_id, command.run_id)
    const step = command.type === 'LogMetrics' ? command.step : null
    const reload = () => stateOf(stream, step)
    return writing((cause) => execute(services)(runDecider, stream, [command], cause, { reload }), {
      respond: () => ({ body }),
    })
  }
}

const startRun = (services: RunServices, write: WriteRun): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: RUNS,
    summary: 'Starts a run for the user of the key. With an id from the client it can be retried.',
    body: newRun,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: createdRun,
    project: inPath,
    handle: ({ body, headers, principal: { userId: user }, project: project_id }) => {
      const made = repeatableId(services, `${user}\n${project_id}`, headers['idempotency-key'])
      const run_id = body.id ?? made
      const now = instantOf(services.clock.now())
      return write({ type: 'StartRun', project_id, run_id, name: body.name, user, now }, { id: run_id })
    },
  })

const showRun = (services: RunServices): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: `${RUNS}/:run`,
    summary: 'Reads a run: its user, its state and the last values of its metrics.',
    response: run,
    project: inPath,
    handle: (request) => async () => {
      const body = await readRun(services, runStream(request.project, runInPath(request)))
      if (body === undefined) throw noSuchRun()
      return { body }
    },
  })

const logMetrics = (services: RunServices, write: WriteRun): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: `${RUNS}/:run/metrics`,
    summary:
      'Logs metrics of a run. With a step the request can be retried; without one every request adds values. Metrics that ' +
      'are no numbers are left out, and named in `warnings`.',
    body: newMetrics,
    errors: ['conflict'],
    response: metricsAnswer,
    project: inPath,
    handle: (request) => {
      const { step } = request.body
      const { metrics, others } = numbersIn(request.body.metrics)
      const of = { project_id: request.project, run_id: runInPath(request) }
      const warnings = others.map((name) => ({
        type: 'float_type',
        msg: 'The metric is no number and was left out',
        loc: ['body', 'metrics', name],
      }))
      return write({ type: 'LogMetrics', ...of, metrics, step }, warnings.length === 0 ? {} : { warnings })
    },
  })

const endRun = (services: RunServices, write: WriteRun): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: `${RUNS}/:run/finish`,
    summary: 'Ends a run with its outcome. Idempotent; a different outcome is a conflict.',
    body: runEnd,
    errors: ['conflict'],
    response: emptyResponse,
    project: inPath,
    handle: (request) => {
      const of = { project_id: request.project, run_id: runInPath(request) }
      const now = instantOf(services.clock.now())
      return write({ type: 'EndRun', ...of, state: request.body.state, now })
    },
  })

/** An invalid id is a run that does not exist. */
const runInPath = ({ params }: Pick<RouteRequest, 'params'>): string => {
  const named = params['run']!
  if (id.is(named)) return named
  throw noSuchRun()
}

const noSuchRun = (): Failure => new Failure('not-found', 'Run not found in the project.')

import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import { instantOf, instant } from '../../kernel/codec/instant.js'
import { addressable, id } from '../../kernel/ids.js'
import type { RunCommand } from '../../domain/runs/commands.js'
import { endState, forkPoint, runDetails, runName } from '../../domain/runs/events.js'
import { givenMetrics, numbersIn } from '../../domain/runs/given-metrics.js'
import { openHistory, type RunHistory } from '../../application/runs/history.js'
import type { RunReads, Runs } from '../../application/runs/runs.js'
import { storedText } from '../../application/runs/run-texts.js'
import { repeatableId } from '../server/idempotency.js'
import { inPath } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { isAsOf } from '../server/read-conditions.js'
import { alsoAsOf, readProjectLog, idempotent, writeProject } from '../server/route-kinds.js'
import { writing, type PlannedWrite } from '../server/run.js'
import { parseJson } from '../../kernel/json/parse.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { arrayOf, nullable, nullableText, recordOf } from '../../kernel/codec/containers.js'
import { int64, integerBetween, jsonObject, number, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'

/** A second request with the same id and name is a retry. */
const newRun = closed('NewRun', {
  required: { name: runName },
  optional: { id: nullableText(addressable(id)) },
})

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
  says: '`last_logged` has the last metrics logged with `/metrics`. `config`, `summary` and `history_lines` come from the package `wandb`.',
  required: {
    id,
    name: string,
    user: string,
    state: oneOf('running', 'finished', 'failed', 'crashed', 'killed'),
    started_at: instant,
    ended_at: nullable(instant),
    last_logged: nullable(loggedMetrics),
    details: runDetails,
    config: jsonObject,
    summary: jsonObject,
    history_lines: int64,
    forked_from: nullable(forkPoint),
  },
})

const RUNS = '/api/runs/:entity/:project'

type RunServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

export const runRoutes = (services: RunServices, runs: Runs, history: RunHistory): readonly AnyRoute[] => {
  const write: WriteRun = (command, body) =>
    writing(
      (cause) => runs.write(command, cause),
      () => body,
    )
  return [
    startRun(services, write),
    showRun(services, { runs, history }),
    logMetrics(services, write),
    endRun(services, write),
  ]
}

type WriteRun = <Answer>(command: RunCommand, body: Answer) => PlannedWrite<Answer>

const startRun = (services: RunServices, write: WriteRun): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: RUNS,
    summary: 'Starts a run for the user of the key. With an id from the client it can be retried.',
    body: newRun,
    ...idempotent,
    response: createdRun,
    project: inPath,
    handle: (request) => {
      const { body, principal, project: project_id } = request
      const run_id = body.id ?? repeatableId(services, request, project_id)
      const now = instantOf(services.clock.now())
      const { userId: user } = principal
      return write({ type: 'StartRun', project_id, run_id, name: body.name, user, now }, { id: run_id })
    },
  })

const showRun = (services: RunServices, present: ReadableRuns): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: `${RUNS}/:run`,
    summary: 'Reads a run: its user, its state and the last values of its metrics.',
    ...alsoAsOf,
    response: run,
    project: inPath,
    handle: (request) => async (position) => {
      const [project, id] = [request.project, runInPath(request)]
      const { runs, history } = runsAt(present, request, position)
      const found = await runs.read(project, id, (kept) => ({ ...kept }))
      if (found?.state.started == null) throw noSuchRun()
      const { started, ended, details, config, summary, fork, lines } = found.state
      const inherited = await history.inherited({ project: request.project, run: started.run_id })
      return {
        body: {
          id: started.run_id,
          name: started.name,
          user: started.user,
          started_at: started.started_at,
          state: ended ?? ('running' as const),
          ended_at: found.endedAt,
          last_logged: found.lastMetrics,
          details,
          config: objectIn(await storedText(services.blobs, config)),
          summary: objectIn(await storedText(services.blobs, summary)),
          history_lines: lines + inherited,
          forked_from: fork,
        },
      }
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
      return write({ type: 'EndRun', ...of, state: request.body.state, now }, {})
    },
  })

export interface ReadableRuns {
  readonly runs: Runs
  readonly history: RunHistory
}

/** The runs as of now, or of the position that a request with `Tallytree-As-Of` reads at. */
export const runsAt = (
  present: ReadableRuns,
  { headers }: Pick<RouteRequest, 'headers'>,
  position: Position,
): { readonly runs: RunReads; readonly history: RunHistory } => {
  if (!isAsOf(headers)) return present
  const runs = present.runs.asOf(position)
  return { runs, history: openHistory(runs) }
}

export const objectIn = (text: string | null): JsonObject => {
  try {
    const value = parseJson(text ?? '{}')
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** An invalid id is a run that does not exist. */
export const runInPath = ({ params }: Pick<RouteRequest, 'params'>): string => {
  const named = params['run']!
  if (id.is(named)) return named
  throw noSuchRun()
}

export const noSuchRun = (): Failure => new Failure('not-found', 'Run not found in the project.')

import { instantOf } from '../../domain/codec/instant.js'
import { execute } from '../../runtime/execute.js'
import { id as idCodec } from '../../domain/ids.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { RunCommand } from '../../domain/run/commands.js'
import { runDecider } from '../../domain/run/decider.js'
import { runStream } from '../../domain/run/events.js'
import { toldMetrics } from '../../domain/run/given-metrics.js'
import { keptRuns } from './kept-runs.js'
import { repeatableId } from '../access/idempotency.js'
import { refuseIf } from '../auth/rights.js'
import { readsLog, writesOnce } from '../conduct.js'
import { Failure } from '../failure.js'
import { nothingToSay } from '../nothing-to-say.js'
import { projectInPath, requireReading, requireWriting, type Teams } from '../projects/access.js'
import type { Reading } from '../reading.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { createdRun, newMetrics, newRun, run, runEnd } from './codecs.js'
import { readRun } from './read-run.js'

export interface Runs {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'sha256' | 'clock'>
  readonly teams: Teams
  readonly reading: Reading
  /** Delays a write while the read side is too far behind. */
  readonly pace: () => Promise<void>
}

const RUNS = '/api/runs/:entity/:project'

/** Runs and what they log. */
export const runRoutes = ({ ports, teams, reading, pace }: Runs): readonly AnyRoute[] => {
  const stateOf = keptRuns(ports)

  const write = async (command: RunCommand, { cause }: Asked<unknown>) => {
    const { project_id, run_id } = command
    const step = command.type === 'LogMetrics' ? command.step : null
    const stream = runStream(project_id, run_id)
    await pace()
    const { refusals, position } = await execute(ports)(runDecider, stream, [command], cause, {
      reload: () => stateOf(stream, step),
    })
    refuseIf(refusals.get(0))
    return reading.acknowledged(project_id, position)
  }

  const projectWritten = async ({ params, principal, cause }: Asked<unknown>): Promise<string> => {
    const project_id = projectInPath(params)
    await requireWriting(teams, principal, project_id, cause)
    return project_id
  }

  const runWritten = async (asked: Asked<unknown>) => ({
    project_id: await projectWritten(asked),
    run_id: runInPath(asked),
  })

  return [
    route({
      method: 'post',
      path: RUNS,
      summary: 'Starts a run of the user of the key. Under an id of your own it can be sent again.',
      body: newRun,
      ...writesOnce,
      takes: ['Idempotency-Key'],
      answer: createdRun,
      handle: async (asked) => {
        const { body, headers, principal } = asked
        const project_id = await projectWritten(asked)
        const made = repeatableId(ports, `${principal.userId}\n${project_id}`, headers['idempotency-key'])
        const run_id = body.id ?? made
        const command = { type: 'StartRun', project_id, run_id, name: body.name } as const
        const now = instantOf(ports.clock.now())
        const position = await write({ ...command, user: principal.userId, now }, asked)
        return { body: { id: run_id }, position }
      },
    }),
    route({
      method: 'get',
      path: `${RUNS}/:run`,
      summary: 'Reads a run: whose it is, whether it has ended, and what it logged last.',
      ...readsLog,
      answer: run,
      handle: async (asked) => {
        const project_id = projectInPath(asked.params)
        requireReading(teams, asked.principal, project_id)
        const position = await reading.inLog(asked.headers)
        const body = await readRun(ports, runStream(project_id, runInPath(asked)))
        if (body === undefined) throw noSuchRun()
        return { body, position }
      },
    }),
    route({
      method: 'post',
      path: `${RUNS}/:run/metrics`,
      summary:
        'Logs metrics of a run. Under a step they can be sent again; without one they are always something new. A metric ' +
        'that is null is passed over.',
      body: newMetrics,
      ...writesOnce,
      answer: nothingToSay,
      handle: async (asked) => {
        const { metrics, step } = asked.body
        const of = await runWritten(asked)
        const position = await write(
          { type: 'LogMetrics', ...of, metrics: toldMetrics(metrics), step },
          asked,
        )
        return { body: {}, position }
      },
    }),
    route({
      method: 'post',
      path: `${RUNS}/:run/finish`,
      summary: 'Says how a run ended; once, and the same again changes nothing.',
      body: runEnd,
      ...writesOnce,
      answer: nothingToSay,
      handle: async (asked) => {
        const { state } = asked.body
        const of = await runWritten(asked)
        const now = instantOf(ports.clock.now())
        return { body: {}, position: await write({ type: 'EndRun', ...of, state, now }, asked) }
      },
    }),
  ]
}

/** No run has a name that is no id. */
const runInPath = ({ params }: Asked<unknown>): string => {
  const named = params['run']!
  if (idCodec.is(named)) return named
  throw noSuchRun()
}

const noSuchRun = (): Failure => new Failure('not-found', 'The project has no such run.')

import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { EndRun, LogMetrics, RunCommand, StartRun } from './commands.js'
import type { EndState, MetricsLogged, RunEvent, RunStarted } from './events.js'

export interface RunState {
  readonly started: RunStarted | null
  readonly ended: EndState | null
  /** Metrics by step. A decision about one step may be given that step alone, see `runCache`. */
  readonly steps: Map<number, MetricsLogged['metrics']>
}

const evolve = (state: RunState, event: RunEvent): RunState => {
  switch (event.type) {
    case 'RunStarted':
      return { ...state, started: event.data }
    case 'MetricsLogged': {
      const { step, metrics } = event.data
      if (step !== null) state.steps.set(step, metrics)
      return state
    }
    case 'RunFinished':
    case 'RunFailed':
      return { ...state, ended: event.data.state }
    default:
      // A newer release may have written an event type that this one does not know.
      return state
  }
}

const decide = (state: RunState, command: RunCommand): Decision<RunEvent> => {
  switch (command.type) {
    case 'StartRun':
      return start(state, command)
    case 'LogMetrics':
      return log(state, command)
    case 'EndRun':
      return end(state, command)
    default:
      return command satisfies never
  }
}

const start = ({ started }: RunState, command: StartRun): Decision<RunEvent> => {
  const { project_id, run_id, name, user, now } = command
  if (started === null)
    return { events: [{ type: 'RunStarted', data: { project_id, run_id, name, user, started_at: now } }] }
  return started.name === name
    ? nothing
    : refused('conflict', 'A run with this id exists under another name.')
}

/** A repeat of acknowledged metrics is accepted even after the run has ended. */
const log = ({ started, ended, steps }: RunState, { metrics, step }: LogMetrics): Decision<RunEvent> => {
  if (started === null) return noSuchRun
  const known = step === null ? undefined : steps.get(step)
  if (known !== undefined && jsonEqual(known, metrics)) return nothing
  if (ended !== null) return refused('conflict', `The run has already ended with state ${ended}.`)
  if (known !== undefined)
    return refused('conflict', `Different metrics are already logged for step ${step}.`)
  if (Object.keys(metrics).length === 0) return nothing
  return { events: [{ type: 'MetricsLogged', data: { ...ofRun(started), metrics, step } }] }
}

const end = ({ started, ended }: RunState, { state, now }: EndRun): Decision<RunEvent> => {
  if (started === null) return noSuchRun
  if (ended !== null)
    return ended === state ? nothing : refused('conflict', `The run has already ended with state ${ended}.`)
  const type = state === 'finished' ? 'RunFinished' : 'RunFailed'
  return { events: [{ type, data: { ...ofRun(started), state, ended_at: now } }] }
}

const ofRun = ({ project_id, run_id, name, user }: RunStarted) => ({ project_id, run_id, name, user })

const noSuchRun: Decision<never> = {
  events: [],
  refused: { kind: 'not-found', reason: 'Run not found in the project.' },
}

export const runDecider: Decider<RunState, RunCommand, RunEvent> = {
  initialState: () => ({ started: null, ended: null, steps: new Map() }),
  evolve,
  decide,
}

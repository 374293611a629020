import type { Decision } from '../../kernel/decider.js'
import type { SpilledField } from '../../kernel/spill/fields.js'
import type {
  EndState,
  ForkPoint,
  MetricsLogged,
  OutputFile,
  RunDetails,
  RunEvent,
  RunFileStored,
  RunStarted,
} from './events.js'
import { historyLine, type WrittenLines } from './history.js'
import { lineIn, NO_OUTPUT, withOutput, type OutputKept } from './output.js'

/** A JSON text, or where it is stored if it is too large for an event. */
type StoredText = string | SpilledField

export interface RunState {
  /** Name and user as of now. */
  readonly started: RunStarted | null
  readonly ended: EndState | null
  readonly stopRequested: boolean
  readonly deleted: boolean
  readonly details: RunDetails
  readonly fork: ForkPoint | null
  readonly config: StoredText | null
  readonly summary: StoredText | null
  /** The number of lines of the history. */
  readonly lines: number
  readonly output: Readonly<Record<OutputFile, OutputKept>>
  /** Lines by file. A decision may be given those alone that its lines may repeat. */
  readonly logged: Readonly<Record<OutputFile | 'history', WrittenLines[]>>
  /** Metrics by step. A decision about one step may be given that step alone, see `openRuns`. */
  readonly steps: Map<number, MetricsLogged['metrics']>
  /** By path. A decision about one file may be given that file alone. */
  readonly files: Map<string, RunFileStored>
  /** Ids of artifacts. A decision about one may be given that one alone. */
  readonly used: Set<string>
}

const NO_DETAILS: RunDetails = {
  group: null,
  job_type: null,
  notes: null,
  tags: [],
  host: null,
  commit: null,
  program: null,
  repository: null,
}

export const initialState = (): RunState => ({
  started: null,
  ended: null,
  stopRequested: false,
  deleted: false,
  details: NO_DETAILS,
  fork: null,
  config: null,
  summary: null,
  lines: 0,
  output: { system: NO_OUTPUT, console: NO_OUTPUT },
  logged: { history: [], system: [], console: [] },
  steps: new Map(),
  files: new Map(),
  used: new Set(),
})

export const evolve = (state: RunState, event: RunEvent): RunState => {
  switch (event.type) {
    case 'RunStarted':
      return { ...state, started: event.data }
    case 'RunDescribed': {
      const { name, details, config, forked_from, spilled } = event.data
      return {
        ...state,
        started: state.started && { ...state.started, name },
        details,
        fork: forked_from ?? state.fork,
        config: spilled['config'] ?? config ?? state.config,
      }
    }
    case 'MetricsLogged': {
      const { step, metrics } = event.data
      if (step !== null) state.steps.set(step, metrics)
      return state
    }
    case 'HistoryLogged': {
      const { offset, rows, lines, writer, summary, spilled } = event.data
      if (lines !== null) state.logged.history.push({ offset, writer, lines: lines.map(historyLine) })
      return { ...state, lines: state.lines + rows, summary: spilled['summary'] ?? summary ?? state.summary }
    }
    case 'RunOutputLogged': {
      const { file, offset, lines, writer } = event.data
      if (lines !== null) state.logged[file].push({ offset, writer, lines: lines.map(lineIn(file)) })
      return { ...state, output: { ...state.output, [file]: withOutput(state.output[file], event.data) } }
    }
    case 'RunFileStored':
      state.files.set(event.data.path, event.data)
      return state
    case 'RunFileDeleted':
      state.files.delete(event.data.path)
      return state
    case 'ArtifactUsed':
      state.used.add(event.data.artifact_id)
      return state
    case 'RunFinished':
    case 'RunFailed':
      return { ...state, ended: event.data.state }
    case 'RunResumed':
      return { ...state, ended: null, stopRequested: false }
    case 'RunStopRequested':
      return { ...state, stopRequested: true }
    case 'RunDeleted':
      return { ...state, deleted: true }
    default:
      // A newer release may have written an event type that this one does not know.
      return state
  }
}

export type OfRun = Omit<RunStarted, 'started_at'>

export const ofRun = ({ project_id, run_id, name, user }: RunStarted): OfRun => ({
  project_id,
  run_id,
  name,
  user,
})

export const noSuchRun: Decision<never> = {
  events: [],
  refused: { kind: 'not-found', reason: 'Run not found in the project.' },
}

/** The end of a run. */
export const endEvent = (run: OfRun, state: EndState, ended_at: RunStarted['started_at']): RunEvent => ({
  type: state === 'finished' ? 'RunFinished' : 'RunFailed',
  data: { ...run, state, ended_at },
})

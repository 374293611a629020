import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { SpilledField } from '../../kernel/spill/fields.js'
import type {
  DeleteRun,
  DeleteRunFile,
  DescribeRun,
  EndRun,
  LogHistory,
  LogMetrics,
  RequestStop,
  RunCommand,
  StartRun,
  StoreRunFile,
  UseArtifact,
} from './commands.js'
import type {
  EndState,
  ForkPoint,
  HistoryLogged,
  MetricsLogged,
  OutputFile,
  RunDetails,
  RunEvent,
  RunFileStored,
  RunStarted,
} from './events.js'
import { lineIn, newOutput, NO_OUTPUT, withOutput, type OutputKept } from './output.js'
import { historyLine, newParts, rangeOf, type WrittenLines } from './history.js'

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

const initialState = (): RunState => ({
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

const evolve = (state: RunState, event: RunEvent): RunState => {
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

const decide = (state: RunState, command: RunCommand): Decision<RunEvent> => {
  if (state.deleted) return command.type === 'DeleteRun' ? nothing : deletedRun
  switch (command.type) {
    case 'StartRun':
      return start(state, command)
    case 'DescribeRun':
      return describe(state, command)
    case 'LogMetrics':
      return log(state, command)
    case 'LogHistory':
      return logHistory(state, command)
    case 'StoreRunFile':
      return storeFile(state, command)
    case 'DeleteRunFile':
      return deleteFile(state, command)
    case 'UseArtifact':
      return useArtifact(state, command)
    case 'EndRun':
      return end(state, command)
    case 'RequestStop':
      return requestStop(state, command)
    case 'DeleteRun':
      return remove(state, command)
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

const describe = (state: RunState, command: DescribeRun): Decision<RunEvent> => {
  const { project_id, run_id, user, now, begins } = command
  const first: RunStarted = { project_id, run_id, name: command.name ?? run_id, user, started_at: now }
  const run = ofRun(state.started ?? first)
  const events: RunEvent[] = state.started === null ? [{ type: 'RunStarted', data: first }] : []
  const name = command.name ?? run.name
  const details = merged(state.details, command.details)
  const config = command.config === state.config ? null : command.config
  const forked_from = state.started === null ? command.fork : null
  if (name !== run.name || config !== null || forked_from !== null || !jsonEqual(details, state.details))
    events.push({ type: 'RunDescribed', data: { ...run, name, details, config, forked_from, spilled: {} } })
  const renamed = { ...run, name }
  if (command.summary !== null && command.summary !== state.summary)
    events.push(historyEvent(renamed, NO_LINES, command.summary))
  if (begins && state.ended !== null)
    events.push({ type: 'RunResumed', data: { ...renamed, resumed_at: now } })
  return { events }
}

const merged = (known: RunDetails, given: DescribeRun['details']): RunDetails => {
  const entries = Object.entries(given).filter(([, value]) => value !== null)
  const changes = entries.map(([key, value]) => [key, value === '' ? null : value])
  return { ...known, ...(Object.fromEntries(changes) as Partial<RunDetails>) }
}

/** A repeat of acknowledged metrics is accepted even after the run has ended. */
const log = (
  { started, ended, steps }: RunState,
  { metrics, step, evenAfterEnd }: LogMetrics,
): Decision<RunEvent> => {
  if (started === null) return noSuchRun
  const known = step === null ? undefined : steps.get(step)
  if (known !== undefined && jsonEqual(known, metrics)) return nothing
  if (ended !== null && evenAfterEnd !== true)
    return refused('conflict', `The run has already ended with state ${ended}.`)
  if (known !== undefined)
    return refused('conflict', `Different metrics are already logged for step ${step}.`)
  if (Object.keys(metrics).length === 0) return nothing
  return { events: [{ type: 'MetricsLogged', data: { ...ofRun(started), metrics, step } }] }
}

/**
 * Lines are accepted after the end too: clients do not send refused ones again. A run that was taken for crashed goes on
 * when its program is heard of.
 */
const logHistory = (state: RunState, command: LogHistory): Decision<RunEvent> => {
  const { started, ended } = state
  if (started === null) return noSuchRun
  const run = ofRun(started)
  const { writer } = command.sent
  const parts = newParts(command.sent, state.logged.history).map((part) => ({ ...part, writer }))
  const summary = command.summary === state.summary ? null : command.summary
  const logged = parts.length === 0 && summary !== null ? [NO_LINES] : parts
  const events: RunEvent[] = logged.map((part, at) =>
    historyEvent(run, part, at === logged.length - 1 ? summary : null),
  )
  for (const file of OUTPUT_FILES) {
    const sent = command.output?.[file]
    if (sent === undefined) continue
    for (const data of newOutput(file, sent, state.logged[file], state.output[file]))
      events.push({ type: 'RunOutputLogged', data: { ...run, ...data } })
  }
  const isAlive = ended === null || ended === 'crashed'
  if (ended === 'crashed') events.push({ type: 'RunResumed', data: { ...run, resumed_at: command.now } })
  if (command.end !== null && isAlive) events.push(endEvent(run, command.end, command.now))
  if (events.length === 0 && command.isQuiet && isAlive)
    events.push({ type: 'RunSeen', data: { ...run, seen_at: command.now } })
  return { events }
}

const OUTPUT_FILES = ['system', 'console'] as const

const NO_LINES: WrittenLines = { offset: 0, lines: [], writer: null }

const historyEvent = (
  run: OfRun,
  { offset, lines, writer }: WrittenLines,
  summary: string | null,
): RunEvent => {
  const steps = lines.map(({ step }) => step)
  const [min_step, max_step] = rangeOf(steps) ?? [null, null]
  const [min_time, max_time] = rangeOf(lines.map(({ time }) => time)) ?? [null, null]
  const data: HistoryLogged = {
    ...run,
    offset,
    rows: lines.length,
    min_step,
    max_step,
    writer,
    stepless: steps.filter((step) => step === null).length,
    min_time,
    max_time,
    lines: lines.map(({ text }) => text),
    summary,
    spilled: {},
  }
  return { type: 'HistoryLogged', data }
}

const storeFile = ({ started, files }: RunState, command: StoreRunFile): Decision<RunEvent> => {
  if (started === null) return noSuchRun
  const { path, blob, md5, size, now } = command
  if (files.get(path)?.blob === blob) return nothing
  const data = { ...ofRun(started), path, blob, md5, size, stored_at: now }
  return { events: [{ type: 'RunFileStored', data }] }
}

const deleteFile = ({ started, files }: RunState, { path, now }: DeleteRunFile): Decision<RunEvent> => {
  if (started === null) return noSuchRun
  if (!files.has(path)) return nothing
  return { events: [{ type: 'RunFileDeleted', data: { ...ofRun(started), path, deleted_at: now } }] }
}

const useArtifact = ({ started, used }: RunState, command: UseArtifact): Decision<RunEvent> => {
  if (started === null) return noSuchRun
  const { artifact_id, source_project, collection, now } = command
  if (used.has(artifact_id)) return nothing
  const data = { ...ofRun(started), artifact_id, source_project, collection, used_at: now }
  return { events: [{ type: 'ArtifactUsed', data }] }
}

const end = ({ started, ended }: RunState, { state, now }: EndRun): Decision<RunEvent> => {
  if (started === null) return noSuchRun
  if (ended !== null)
    return ended === state ? nothing : refused('conflict', `The run has already ended with state ${ended}.`)
  return { events: [endEvent(ofRun(started), state, now)] }
}

const endEvent = (run: OfRun, state: EndState, ended_at: RunStarted['started_at']): RunEvent => ({
  type: state === 'finished' ? 'RunFinished' : 'RunFailed',
  data: { ...run, state, ended_at },
})

const requestStop = (state: RunState, { now }: RequestStop): Decision<RunEvent> => {
  const { started, ended, stopRequested } = state
  if (started === null) return noSuchRun
  if (ended !== null || stopRequested) return nothing
  return { events: [{ type: 'RunStopRequested', data: { ...ofRun(started), requested_at: now } }] }
}

const remove = ({ started }: RunState, { now }: DeleteRun): Decision<RunEvent> =>
  started === null
    ? noSuchRun
    : { events: [{ type: 'RunDeleted', data: { ...ofRun(started), deleted_at: now } }] }

type OfRun = Omit<RunStarted, 'started_at'>

const ofRun = ({ project_id, run_id, name, user }: RunStarted): OfRun => ({ project_id, run_id, name, user })

const noSuchRun: Decision<never> = {
  events: [],
  refused: { kind: 'not-found', reason: 'Run not found in the project.' },
}

const deletedRun: Decision<never> = {
  events: [],
  refused: { kind: 'not-found', reason: 'The run was deleted. A new run needs another id.' },
}

export const runDecider: Decider<RunState, RunCommand, RunEvent> = { initialState, evolve, decide }

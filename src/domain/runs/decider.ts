import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type {
  DeleteRun,
  DeleteRunFile,
  DescribeRun,
  EndRun,
  RequestStop,
  RunCommand,
  StartRun,
  StoreRunFile,
  UseArtifact,
} from './commands.js'
import type { RunDetails, RunEvent, RunStarted } from './events.js'
import { historyEvent, logHistory, logMetrics, NO_LINES } from './logging.js'
import { endEvent, evolve, initialState, noSuchRun, ofRun, type RunState } from './state.js'

const decide = (state: RunState, command: RunCommand): Decision<RunEvent> => {
  if (state.deleted) return command.type === 'DeleteRun' ? nothing : deletedRun
  switch (command.type) {
    case 'StartRun':
      return start(state, command)
    case 'DescribeRun':
      return describe(state, command)
    case 'LogMetrics':
      return logMetrics(state, command)
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

const deletedRun: Decision<never> = {
  events: [],
  refused: { kind: 'not-found', reason: 'The run was deleted. A new run needs another id.' },
}

export const runDecider: Decider<RunState, RunCommand, RunEvent> = { initialState, evolve, decide }

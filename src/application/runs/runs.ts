import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { LogHistory, RunCommand, UseArtifact } from '../../domain/runs/commands.js'
import { runDecider } from '../../domain/runs/decider.js'
import type { RunState } from '../../domain/runs/state.js'
import {
  runStream,
  type HistoryLogged,
  type MetricsLogged,
  type OutputFile,
  type RunEvent,
  type RunFileStored,
  type RunOutputLogged,
} from '../../domain/runs/events.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { appendDecided, type ExecuteResult } from '../../kernel/execute.js'
import { foldCache } from '../../kernel/fold-cache.js'
import { catchUp, newFold } from '../../kernel/kept-folds.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { jsonTextInSteps } from '../../kernel/json/text-in-steps.js'
import { utf8Bytes } from '../../kernel/codec/text.js'
import { spill } from '../../kernel/spill/spill.js'
import { stepIn, type WrittenLines } from '../../domain/runs/history.js'
import { openHistoryParts, type HistoryChunk, type HistoryParts } from './history-parts.js'
import { addLines, ANY_TIME, chunksRepeatedBy, noLines, type KeptLines } from './kept-lines.js'
import { LoggedSteps } from './logged-steps.js'

/** A run as it is kept: where its metrics and lines are, without them. */
export interface KeptRun {
  /** Has the files, and no steps. */
  readonly state: RunState
  readonly steps: LoggedSteps
  readonly history: KeptLines
  readonly output: Readonly<Record<OutputFile, KeptLines>>
  /** The highest step of its history, 0 if it has none. */
  readonly highestStep: number
  readonly endedAt: Instant | null
  readonly lastMetrics: { readonly metrics: Metrics; readonly step: number | null } | null
  /** When its last event was recorded. */
  readonly updatedAt: Instant | null
}

export interface RunReads {
  /** Undefined if there is no such run. `read` must not keep the run, which later events change in place. */
  readonly read: <A>(project: string, run: string, read: (run: KeptRun) => A) => Promise<A | undefined>
  /** As `read`, also of a run that was deleted: a fork keeps the rows that it began with. */
  readonly readOrigin: RunReads['read']
  /** The rows of a chunk of a run. */
  readonly rowsOf: HistoryParts
}

export interface Runs extends RunReads {
  /** Runs as of a position. They are folded from the start of their streams for each read. */
  readonly asOf: (position: Position) => RunReads
  readonly write: (command: RunCommand, cause: Cause) => Promise<ExecuteResult<RunState, RunEvent>>
}

/** The steps, lines and runs that may be kept together: about 60 MB. */
const MOST = 4_000_000
const WEIGHT_OF_FILE = 20
const WEIGHT_OF_CHUNK = 10
const BYTES_OF_WEIGHT = 16
/** Rows of metrics that are read together. */
const MOST_METRICS = 500
/** In characters. Fewer lines are in the event itself: a blob takes at least a block of the disk. */
const MOST_INLINE = 32_768

type Metrics = MetricsLogged['metrics']

/**
 * Reads and writes runs. Kept folds only read new events; they locate the metrics of a step, which are then read from
 * their event. Only a run that is not kept is read as a whole.
 */
export const openRuns = (ports: Pick<Ports, 'eventStore' | 'ids' | 'blobs' | 'sha256'>): Runs => {
  const folds = foldCache<KeptRun>(
    ports,
    {
      initialState: noRun,
      evolve: withEvent,
      weightOf: ({ state, steps, history, output }) =>
        1 +
        steps.size +
        weightOfLines([history, output.system, output.console]) +
        state.files.size * WEIGHT_OF_FILE +
        weightOf(state),
    },
    MOST,
  )

  const rowsOf = openHistoryParts(ports)

  const metricsAt = async (stream: string, revision: number): Promise<Metrics> => {
    for await (const { data } of ports.eventStore.readStream(stream, { from: BigInt(revision), limit: 1 }))
      return (data as MetricsLogged).metrics
    throw new Error('an event of the stream is missing from the event store')
  }

  /** The part of a run's state that a decision needs. */
  const stateFor = async (stream: string, command: RunCommand) => {
    const step = command.type === 'LogMetrics' ? command.step : null
    const loaded = await folds(stream, ({ state: kept, ...at }) => {
      const { state, steps } = kept
      const isOfFile = command.type === 'StoreRunFile' || command.type === 'DeleteRunFile'
      const file = isOfFile ? state.files.get(command.path) : undefined
      const isUsed = command.type === 'UseArtifact' && state.used.has(command.artifact_id)
      const chunks = command.type === 'LogHistory' ? repeatedBy(kept, command) : NO_CHUNKS
      const revision = step === null ? undefined : steps.revisionOf(step)
      return { state, file, isUsed, chunks, revision, ...at }
    })
    const { state, file, isUsed, chunks, revision, expected, position } = loaded
    const steps = new Map<number, Metrics>()
    if (step !== null && revision !== undefined) steps.set(step, await metricsAt(stream, revision))
    const files = new Map<string, RunFileStored>(file === undefined ? [] : [[file.path, file]])
    const used = new Set(isUsed ? [(command as UseArtifact).artifact_id] : [])
    const linesOf = async (found: readonly HistoryChunk[]) => {
      const lines: WrittenLines[] = []
      for (const chunk of found) lines.push({ ...chunk, lines: await rowsOf(stream, chunk) })
      return lines
    }
    const logged = {
      history: await linesOf(chunks.history),
      system: await linesOf(chunks.system),
      console: await linesOf(chunks.console),
    }
    return { state: { ...state, steps, files, used, logged }, expected, position }
  }

  const spilled = async (event: RunEvent): Promise<RunEvent> => {
    if (event.type === 'RunDescribed') return { ...event, data: await spill(ports)(event.data, ['config']) }
    switch (event.type) {
      case 'HistoryLogged': {
        const packed = await withPackedLines(ports, event.data)
        return { ...event, data: await spill(ports)(packed, ['lines', 'summary']) }
      }
      case 'RunOutputLogged':
        return { ...event, data: await withPackedLines(ports, event.data) }
      default:
        return event
    }
  }

  const reads = (readOrigin: RunReads['readOrigin']): RunReads => ({
    read: (project, run, read) =>
      readOrigin(project, run, (kept) => (kept.state.deleted ? undefined : read(kept))),
    readOrigin,
    rowsOf,
  })

  return {
    ...reads((project, run, read) =>
      folds(runStream(project, run), ({ state: kept }) =>
        kept.state.started === null ? undefined : read(kept),
      ),
    ),
    asOf: (position) =>
      reads(async (project, run, read) => {
        const fold = newFold(noRun())
        await catchUp(ports.eventStore, runStream(project, run), fold, withEvent, position)
        return fold.state.state.started === null ? undefined : read(fold.state)
      }),
    write: (command, cause) => {
      const stream = runStream(command.project_id, command.run_id)
      return appendDecided(ports, stream, cause, async () => {
        const { state, expected, position } = await stateFor(stream, command)
        const decided = runDecider.decide(state, command)
        const events: RunEvent[] = []
        for (const event of decided.events) events.push(await spilled(event))
        const refusals = new Map(decided.refused === undefined ? [] : [[0, decided.refused]])
        return { state: events.reduce(runDecider.evolve, state), events, refusals, expected, position }
      })
    },
  }
}

const noRun = (): KeptRun => ({
  state: runDecider.initialState(),
  steps: new LoggedSteps(),
  history: noLines(),
  output: { system: noLines(), console: noLines() },
  highestStep: 0,
  endedAt: null,
  lastMetrics: null,
  updatedAt: null,
})

/** Rows of metrics are alike: as gzip they take less than half the space. */
const withPackedLines = async <Data extends HistoryLogged | RunOutputLogged>(
  { blobs, sha256 }: Pick<Ports, 'blobs' | 'sha256'>,
  data: Data,
): Promise<Data> => {
  const text = await jsonTextInSteps(data.lines)
  if (text.length <= MOST_INLINE) return data
  const digest = await blobs.put(await promisify(gzip)(text))
  const lines = { digest, size: utf8Bytes(text), canonical: sha256(text) }
  return { ...data, lines: null, spilled: { ...data.spilled, lines } }
}

const withEvent = (run: KeptRun, { type, data, revision, recordedAt }: RecordedEvent): KeptRun => {
  const event = { type, data } as RunEvent
  const updatedAt = instantOf(recordedAt)
  switch (event.type) {
    case 'MetricsLogged': {
      const { metrics, step } = event.data
      if (step !== null) run.steps.add(step, Number(revision))
      const highestStep = Math.max(run.highestStep, stepIn(step) ?? 0)
      addMetrics(run, stepIn(step) ?? highestStep, revision)
      return { ...run, highestStep, updatedAt, lastMetrics: { metrics, step } }
    }
    case 'HistoryLogged':
      return { ...withLines(run, event.data, revision), updatedAt }
    case 'RunOutputLogged': {
      const { file, offset, rows, writer, min_time, max_time } = event.data
      const times = min_time === null || max_time === null ? null : ([min_time, max_time] as const)
      const of = file === 'console' ? file : 'lines'
      addLines(run.output[file], { of, offset, rows, writer, times, ...ANY_STEP, revision })
      const data = { ...event.data, lines: null }
      return { ...run, updatedAt, state: runDecider.evolve(run.state, { ...event, data }) }
    }
    case 'RunFinished':
    case 'RunFailed':
      return { ...run, updatedAt, endedAt: event.data.ended_at, state: runDecider.evolve(run.state, event) }
    case 'RunResumed':
      return { ...run, updatedAt, endedAt: null, state: runDecider.evolve(run.state, event) }
    default:
  }
  return { ...run, updatedAt, state: runDecider.evolve(run.state, event) }
}

/** Without a copy of the lines. */
const withLines = (run: KeptRun, data: HistoryLogged, revision: bigint): KeptRun => {
  const state = runDecider.evolve(run.state, { type: 'HistoryLogged', data: { ...data, lines: null } })
  const { offset, rows, writer, stepless, min_step, max_step, min_time, max_time } = data
  if (rows === 0) return { ...run, state }
  const before = run.highestStep
  const steps = [
    ...(min_step === null || max_step === null ? [] : [min_step, max_step]),
    ...(stepless === 0 ? [] : [before]),
  ]
  const isOld = stepless === null
  const times: HistoryChunk['times'] =
    min_time === null || max_time === null ? (isOld ? ANY_TIME : null) : [min_time, max_time]
  const [minStep, maxStep] = [Math.min(...steps), Math.max(...steps)]
  const chunk = { of: 'lines', rows, offset, writer, minStep, maxStep, before, times, revision } as const
  addLines(run.history, chunk)
  return { ...run, state, highestStep: Math.max(before, maxStep) }
}

const ANY_STEP = { minStep: -Infinity, maxStep: Infinity, before: 0 } as const

const addMetrics = (run: KeptRun, step: number, revision: bigint): void => {
  const { chunks } = run.history
  const last = chunks.at(-1)
  const continues =
    last?.of === 'metrics' && last.rows < MOST_METRICS && last.revision + BigInt(last.rows) === revision
  if (continues)
    chunks[chunks.length - 1] = {
      ...last,
      rows: last.rows + 1,
      minStep: Math.min(step, last.minStep),
      maxStep: Math.max(step, last.maxStep),
    }
  else
    chunks.push({
      of: 'metrics',
      rows: 1,
      offset: 0,
      writer: null,
      minStep: step,
      maxStep: step,
      before: run.highestStep,
      times: null,
      revision,
    })
}

const NO_CHUNKS: Readonly<Record<OutputFile | 'history', readonly HistoryChunk[]>> = {
  history: [],
  system: [],
  console: [],
}

const repeatedBy = ({ history, output }: KeptRun, command: LogHistory): typeof NO_CHUNKS => ({
  history: chunksRepeatedBy(history, command.sent),
  system: command.output?.system === undefined ? [] : chunksRepeatedBy(output.system, command.output.system),
  console:
    command.output?.console === undefined ? [] : chunksRepeatedBy(output.console, command.output.console),
})

const weightOfLines = (files: readonly KeptLines[]): number =>
  files.reduce((sum, { chunks, ends }) => sum + (chunks.length + ends.size) * WEIGHT_OF_CHUNK, 0)

const weightOf = ({ config, summary }: RunState): number =>
  [config, summary].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? Math.ceil(text.length / BYTES_OF_WEIGHT) : 1),
    0,
  )

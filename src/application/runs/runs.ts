import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { RunCommand, UseArtifact } from '../../domain/runs/commands.js'
import { runDecider, type RunState } from '../../domain/runs/decider.js'
import {
  runStream,
  type HistoryLogged,
  type MetricsLogged,
  type RunEvent,
  type RunFileStored,
} from '../../domain/runs/events.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { appendDecided, type ExecuteResult } from '../../kernel/execute.js'
import { foldCache } from '../../kernel/fold-cache.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { utf8Bytes } from '../../kernel/codec/text.js'
import { spill } from '../../kernel/spill/spill.js'
import { LoggedSteps } from './logged-steps.js'

/**
 * Rows of a run's history: the lines of the event at `revision`, or the metrics of that event and the next ones, of which
 * each is one row.
 */
export interface HistoryChunk {
  readonly of: 'lines' | 'metrics'
  readonly rows: number
  /** Null if no row has a step. */
  readonly minStep: number | null
  readonly maxStep: number | null
  readonly revision: bigint
}

/** A run as it is kept: where its metrics and lines are, without them. */
export interface KeptRun {
  /** Has the files, and no steps. */
  readonly state: RunState
  readonly steps: LoggedSteps
  readonly chunks: readonly HistoryChunk[]
  readonly endedAt: Instant | null
  readonly lastMetrics: { readonly metrics: Metrics; readonly step: number | null } | null
  /** When its last event was recorded. */
  readonly updatedAt: Instant | null
}

export interface Runs {
  /** Undefined if there is no such run. `read` must not keep the run, which later events change in place. */
  readonly read: <A>(project: string, run: string, read: (run: KeptRun) => A) => Promise<A | undefined>
  readonly write: (command: RunCommand, cause: Cause) => Promise<ExecuteResult<RunState, RunEvent>>
}

/** The steps, lines and runs that may be kept together: about 60 MB. */
const MOST = 4_000_000
const WEIGHT_OF_FILE = 20
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
      initialState: () => ({
        state: runDecider.initialState(),
        steps: new LoggedSteps(),
        chunks: [],
        endedAt: null,
        lastMetrics: null,
        updatedAt: null,
      }),
      evolve: withEvent,
      weightOf: ({ state, steps, chunks }) =>
        1 + steps.size + chunks.length + state.files.size * WEIGHT_OF_FILE + weightOf(state),
    },
    MOST,
  )

  const metricsAt = async (stream: string, revision: number): Promise<Metrics> => {
    for await (const { data } of ports.eventStore.readStream(stream, { from: BigInt(revision), limit: 1 }))
      return (data as unknown as MetricsLogged).metrics
    throw new Error('an event of the stream is missing from the event store')
  }

  /** The part of a run's state that a decision needs. */
  const stateFor = async (stream: string, command: RunCommand) => {
    const step = command.type === 'LogMetrics' ? command.step : null
    const loaded = await folds(stream, ({ state: { state, steps }, ...at }) => {
      const file = command.type === 'StoreRunFile' ? state.files.get(command.path) : undefined
      const isUsed = command.type === 'UseArtifact' && state.used.has(command.artifact_id)
      return { state, file, isUsed, revision: step === null ? undefined : steps.revisionOf(step), ...at }
    })
    const { state, file, isUsed, revision, expected, position } = loaded
    const steps = new Map<number, Metrics>()
    if (step !== null && revision !== undefined) steps.set(step, await metricsAt(stream, revision))
    const files = new Map<string, RunFileStored>(file === undefined ? [] : [[file.path, file]])
    const used = new Set(isUsed ? [(command as UseArtifact).artifact_id] : [])
    return { state: { ...state, steps, files, used }, expected, position }
  }

  const spilled = async (event: RunEvent): Promise<RunEvent> => {
    if (event.type === 'RunDescribed') return { ...event, data: await spill(ports)(event.data, ['config']) }
    if (event.type !== 'HistoryLogged') return event
    return {
      ...event,
      data: await spill(ports)(await withPackedLines(ports, event.data), ['lines', 'summary']),
    }
  }

  return {
    read: (project, run, read) =>
      folds(runStream(project, run), ({ state: kept }) =>
        kept.state.started === null || kept.state.deleted ? undefined : read(kept),
      ),
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

/** Rows of metrics are alike: as gzip they take less than half the space. */
const withPackedLines = async (
  { blobs, sha256 }: Pick<Ports, 'blobs' | 'sha256'>,
  data: HistoryLogged,
): Promise<HistoryLogged> => {
  const text = JSON.stringify(data.lines)
  if (text.length <= MOST_INLINE) return data
  const digest = await blobs.put(await promisify(gzip)(text))
  const lines = { digest, size: utf8Bytes(text), canonical: sha256(text) }
  return { ...data, lines: null, spilled: { ...data.spilled, lines } }
}

const withEvent = (run: KeptRun, { type, data, revision, recordedAt }: RecordedEvent): KeptRun => {
  const event = { type, data } as unknown as RunEvent
  const updatedAt = instantOf(recordedAt)
  switch (event.type) {
    case 'MetricsLogged': {
      const { metrics, step } = event.data
      if (step !== null) run.steps.add(step, Number(revision))
      addMetrics(run.chunks as HistoryChunk[], step, revision)
      return { ...run, updatedAt, lastMetrics: { metrics, step } }
    }
    case 'HistoryLogged': {
      const { rows, min_step: minStep, max_step: maxStep } = event.data
      if (rows > 0) (run.chunks as HistoryChunk[]).push({ of: 'lines', rows, minStep, maxStep, revision })
      break
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

const addMetrics = (chunks: HistoryChunk[], step: number | null, revision: bigint): void => {
  const last = chunks.at(-1)
  const one = { of: 'metrics', rows: 1, minStep: step, maxStep: step, revision } as const
  const continues =
    last?.of === 'metrics' && last.rows < MOST_METRICS && last.revision + BigInt(last.rows) === revision
  if (!continues) chunks.push(one)
  else
    chunks[chunks.length - 1] = {
      ...last,
      rows: last.rows + 1,
      minStep: step === null ? last.minStep : Math.min(step, last.minStep ?? step),
      maxStep: step === null ? last.maxStep : Math.max(step, last.maxStep ?? step),
    }
}

const weightOf = ({ config, summary }: RunState): number =>
  [config, summary].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? Math.ceil(text.length / BYTES_OF_WEIGHT) : 1),
    0,
  )

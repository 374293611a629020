import { LRUCache } from 'lru-cache'
import type { ReadBudget } from '../read-budget.js'
import { rowOf } from '../../domain/runs/history.js'
import { runStream, type ForkPoint } from '../../domain/runs/events.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { openHistoryColumns } from './history-columns.js'
import { countKeys, keysOf, type HistoryKeys, type KnownKeys } from './history-keys.js'
import { spread } from './history-sampling.js'
import { isWhole, isWithin, mayHave, type StepRange } from './step-range.js'
import { sampleColumns, type HistorySpec, type SampledRow, type Stretch } from './sampled-history.js'
import type { HistoryChunk, HistoryParts, PlacedLine } from './history-parts.js'
import type { RunReads } from './runs.js'

/** A run by its project and id. */
export interface RunPlace {
  readonly project: string
  readonly run: string
}

export interface RunHistory {
  /** The first lines within the steps, in the order in which they arrived. */
  readonly page: (
    place: RunPlace,
    range: StepRange,
    limit: number,
    budget: ReadBudget,
  ) => Promise<readonly string[]>
  /** Lines that are evenly spread over the run, and the last one. */
  readonly sample: (
    place: RunPlace,
    range: StepRange,
    most: number,
    budget: ReadBudget,
  ) => Promise<readonly string[]>
  /** The rows of each specification, by one pass over the rows of the run. */
  readonly sampleOf: (
    place: RunPlace,
    specs: readonly HistorySpec[],
    budget: ReadBudget,
  ) => Promise<readonly (readonly SampledRow[])[]>
  /** Lines of system metrics that are evenly spread over the run. */
  readonly system: (place: RunPlace, most: number, budget: ReadBudget) => Promise<readonly string[]>
  /** The last value of each system metric. */
  readonly lastSystem: (place: RunPlace) => Promise<JsonObject>
  /** The last one that a program logged as a line: its client continues after it. */
  readonly lastLine: (place: RunPlace) => Promise<string | undefined>
  readonly keys: (place: RunPlace) => Promise<HistoryKeys>
  /** How many rows it has of the runs that it is a fork of. */
  readonly inherited: (place: RunPlace) => Promise<number>
}

const KEPT_KEYS = 1000

/** Reads the history of runs from their events. */
export const openHistory = (runs: RunReads): RunHistory => {
  const { rowsOf: linesOf } = runs
  const known = new LRUCache<string, KnownKeys>({ max: KEPT_KEYS })
  const columnsOf = openHistoryColumns(linesOf)

  return {
    page: async (place, range, limit, budget) => {
      const page: string[] = []
      if (limit <= 0) return page
      for await (const { text } of placedIn(linesOf, await stretchesOf(runs, place, range))) {
        budget.spend('text', text.length)
        page.push(text)
        if (page.length === limit) break
      }
      return page
    },
    sample: async (place, range, most, budget) =>
      sampleOfChunks(linesOf, await countedIn(linesOf, await stretchesOf(runs, place, range)), most, budget),
    system: async ({ project, run }, most, budget) => {
      const chunks = (await runs.read(project, run, ({ output }) => [...output.system.chunks])) ?? []
      const stream = runStream(project, run)
      return sampleOfChunks(
        linesOf,
        chunks.map((chunk) => ({ stream, chunk, within: undefined, rows: chunk.rows })),
        most,
        budget,
      )
    },
    lastSystem: async ({ project, run }) => {
      const chunks = await runs.read(project, run, ({ output }) => output.system.chunks.slice(-LAST_SYSTEM))
      const last: Record<string, Json> = {}
      for (const chunk of chunks ?? [])
        for (const { text } of await linesOf(runStream(project, run), chunk))
          for (const [key, value] of Object.entries(rowOf(text) ?? {}))
            if (!key.startsWith('_')) last[key] = value
      return last
    },
    sampleOf: async (place, specs, budget) => {
      const stretches = await stretchesOf(runs, place, rangeOfAll(specs.map(({ range }) => range)))
      return sampleColumns({ columnsOf, linesOf }, stretches, specs, budget)
    },
    inherited: async (place) => {
      const counted = await countedIn(linesOf, (await stretchesOf(runs, place, NO_RANGE)).slice(0, -1))
      return counted.reduce((sum, { rows }) => sum + rows, 0)
    },
    lastLine: async (place) => {
      const stretches = await stretchesOf(runs, place, NO_RANGE)
      for (const { stream, chunks, range } of [...stretches].reverse())
        for (const chunk of [...chunks].reverse()) {
          if (chunk.of !== 'lines') continue
          const last = (await linesOf(stream, chunk)).findLast((line) => isWithin(range, line))
          if (last !== undefined) return last.text
        }
      return undefined
    },
    keys: async (place) => {
      const stretches = await stretchesOf(runs, place, NO_RANGE)
      return stretches.length > 1
        ? keysOf(placedIn(linesOf, stretches))
        : readKeys(linesOf, known, runStream(place.project, place.run), stretches[0])
    },
  }
}
/** The stretches of a history in order: those of the runs that it is a fork of, and its own. */
const stretchesOf = async (
  runs: RunReads,
  { project, run }: RunPlace,
  range: StepRange,
): Promise<readonly Stretch[]> => {
  const stretches: Stretch[] = []
  const seen = new Set<string>()
  let at: ForkPoint | null = { run_id: run, step: Infinity }
  let { maxStep } = range
  while (at !== null && !seen.has(at.run_id)) {
    const id: string = at.run_id
    const read = seen.size === 0 ? runs.read : runs.readOrigin
    maxStep = Math.min(maxStep ?? Infinity, at.step + 1)
    const within = { minStep: range.minStep, maxStep: maxStep === Infinity ? null : maxStep }
    at =
      (await read(project, id, ({ state, history: { chunks }, highestStep }) => {
        const found = chunks.filter((chunk) => mayHave(within, chunk))
        stretches.unshift({ stream: runStream(project, id), chunks: found, range: within, highestStep })
        return state.fork
      })) ?? null
    seen.add(id)
  }
  return stretches
}

async function* placedIn(linesOf: HistoryParts, stretches: readonly Stretch[]): AsyncGenerator<PlacedLine> {
  const pause = yielding()
  for (const { stream, chunks, range } of stretches)
    for (const chunk of chunks)
      for (const line of await linesOf(stream, chunk)) {
        if (isWithin(range, line)) yield line
        await pause()
      }
}

/** The chunks of stretches with the number of their rows within the steps: only a chunk partly within is read. */
const countedIn = async (
  linesOf: HistoryParts,
  stretches: readonly Stretch[],
): Promise<readonly CountedChunk[]> => {
  const counted: CountedChunk[] = []
  for (const { stream, chunks, range } of stretches)
    for (const chunk of chunks) {
      const within = isWhole(range, chunk) ? undefined : range
      const rows =
        within === undefined ? chunk.rows : (await linesWithin(linesOf, { stream, chunk, within })).length
      counted.push({ stream, chunk, within, rows })
    }
  return counted
}

const linesWithin = async (linesOf: HistoryParts, { stream, chunk, within }: Omit<CountedChunk, 'rows'>) => {
  const lines = await linesOf(stream, chunk)
  return within === undefined ? lines : lines.filter((line) => isWithin(within, line))
}

const sampleOfChunks = async (
  linesOf: HistoryParts,
  chunks: readonly CountedChunk[],
  most: number,
  budget: ReadBudget,
) => {
  const total = chunks.reduce((sum, { rows }) => sum + rows, 0)
  budget.spend('rows', Math.min(total, Math.max(0, most)))
  const sampled: string[] = []
  const pause = yielding()
  let [before, index] = [0, 0]
  let lines: readonly PlacedLine[] | undefined
  for (const at of spread(total, most)) {
    while (at >= before + chunks[index]!.rows) {
      before += chunks[index++]!.rows
      lines = undefined
    }
    lines ??= await linesWithin(linesOf, chunks[index]!)
    const { text } = lines[at - before]!
    budget.spend('text', text.length)
    sampled.push(text)
    await pause()
  }
  return sampled
}

/** The keys of a run without a fork, from its rows since they were last read. */
const readKeys = async (
  linesOf: HistoryParts,
  known: LRUCache<string, KnownKeys>,
  stream: string,
  stretch: Stretch | undefined,
): Promise<HistoryKeys> => {
  const read = known.get(stream) ?? { rows: 0, keys: new Map() }
  const pause = yielding()
  const { chunks = [], highestStep = 0 } = stretch ?? {}
  let before = 0
  for (const chunk of chunks) {
    const counted = Math.max(0, read.rows - before)
    before += chunk.rows
    if (counted >= chunk.rows) continue
    for (const { text } of (await linesOf(stream, chunk)).slice(counted)) {
      countKeys(read.keys, rowOf(text) ?? {}, '')
      await pause()
    }
    read.rows = before
  }
  known.set(stream, read)
  return { keys: read.keys, lastStep: highestStep }
}

/** In chunks: a client sends metrics of different parts of a machine in different lines. */
const LAST_SYSTEM = 4

const NO_RANGE: StepRange = { minStep: null, maxStep: null }

interface CountedChunk {
  readonly stream: string
  readonly chunk: HistoryChunk
  /** Undefined if all rows are. */
  readonly within: StepRange | undefined
  readonly rows: number
}

const rangeOfAll = (ranges: readonly StepRange[]): StepRange => {
  const minSteps = ranges.map(({ minStep }) => minStep ?? -Infinity)
  const maxSteps = ranges.map(({ maxStep }) => maxStep ?? Infinity)
  return { minStep: Math.min(...minSteps), maxStep: Math.max(...maxSteps) }
}

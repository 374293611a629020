import { LRUCache } from 'lru-cache'
import { Failure } from '../failure.js'
import { rowOf } from '../../domain/runs/history.js'
import { runStream, type ForkPoint } from '../../domain/runs/events.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { countKeys, keysOf, valueAt, type HistoryKeys, type KnownKeys } from './history-keys.js'
import { ownKeysOf, spread, withExtremes } from './history-sampling.js'
import type { HistoryChunk, PlacedLine } from './history-parts.js'
import type { Runs } from './runs.js'

/** A run by its project and id. */
export interface RunPlace {
  readonly project: string
  readonly run: string
}

/**
 * The steps from `minStep` to before `maxStep`, for which null is no limit. A row without a step of its own belongs to the
 * highest step before it.
 */
export interface StepRange {
  readonly minStep: number | null
  readonly maxStep: number | null
}

export interface RunHistory {
  /** The first lines within the steps, in the order in which they arrived. @throws Failure for a page that is too long */
  readonly page: (place: RunPlace, range: StepRange, limit: number) => Promise<readonly string[]>
  /** Lines that are evenly spread over the run, and the last one. */
  readonly sample: (place: RunPlace, range: StepRange, most: number) => Promise<readonly string[]>
  /**
   * The rows that have all of the keys, reduced to them and to what the client adds: of each stretch those with the least
   * and the greatest value of each key, where `most` leaves room for that.
   */
  readonly sampleOf: (
    place: RunPlace,
    keys: readonly string[],
    range: StepRange,
    most: number,
  ) => Promise<readonly Readonly<Record<string, Json>>[]>
  /** Lines of system metrics that are evenly spread over the run. */
  readonly system: (place: RunPlace, most: number) => Promise<readonly string[]>
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
export const openHistory = (runs: Runs): RunHistory => {
  const { rowsOf: linesOf } = runs
  const known = new LRUCache<string, KnownKeys>({ max: KEPT_KEYS })

  /** The stretches of a history in order: those of the runs that it is a fork of, and its own. */
  const stretchesOf = async ({ project, run }: RunPlace, range: StepRange): Promise<readonly Stretch[]> => {
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

  async function* placedIn(stretches: readonly Stretch[]): AsyncGenerator<PlacedLine> {
    const pause = yielding()
    for (const { stream, chunks, range } of stretches)
      for (const chunk of chunks)
        for (const line of await linesOf(stream, chunk)) {
          if (isWithin(range, line)) yield line
          await pause()
        }
  }

  async function* linesIn(place: RunPlace, range: StepRange): AsyncGenerator<string> {
    for await (const { text } of placedIn(await stretchesOf(place, range))) yield text
  }

  const rowsWith = async (place: RunPlace, keys: readonly string[], range: StepRange) => {
    const rows: Readonly<Record<string, Json>>[] = []
    for await (const text of linesIn(place, range)) {
      const row = rowOf(text)
      const found = row && keys.map((key) => [key, valueAt(row, key)] as const)
      if (found?.every(([, value]) => value !== undefined) === true)
        rows.push({ ...ownKeysOf(row!), ...(Object.fromEntries(found) as Record<string, Json>) })
    }
    return rows
  }

  const sampleOfChunks = async (stream: string, chunks: readonly HistoryChunk[], most: number) => {
    const total = chunks.reduce((sum, { rows }) => sum + rows, 0)
    const sampled: string[] = []
    let before = 0
    let chunk = 0
    for (const at of spread(total, most)) {
      while (at >= before + chunks[chunk]!.rows) before += chunks[chunk++]!.rows
      sampled.push((await linesOf(stream, chunks[chunk]!))[at - before]!.text)
    }
    return sampled
  }

  return {
    page: async (place, range, limit) => {
      const page: string[] = []
      let length = 0
      if (limit <= 0) return page
      for await (const text of linesIn(place, range)) {
        page.push(text)
        if ((length += text.length) > LONGEST_PAGE) throw tooLong(range)
        if (page.length === limit) break
      }
      return page
    },
    sample: async (place, range, most) => {
      const [first, ...others] = await stretchesOf(place, range)
      if (first === undefined) return []
      const { stream, chunks } = first
      if (range.minStep !== null || range.maxStep !== null || others.length > 0) {
        const all: string[] = []
        for await (const text of linesIn(place, range)) all.push(text)
        return spread(all.length, most).map((at) => all[at]!)
      }
      return sampleOfChunks(stream, chunks, most)
    },
    system: async ({ project, run }, most) => {
      const chunks = await runs.read(project, run, ({ output }) => [...output.system.chunks])
      return sampleOfChunks(runStream(project, run), chunks ?? [], most)
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
    sampleOf: async (place, keys, range, most) => {
      const rows = await rowsWith(place, keys, range)
      return withExtremes(rows, keys, most).map((at) => rows[at]!)
    },
    inherited: async (place) => {
      const stretches = (await stretchesOf(place, NO_RANGE)).slice(0, -1)
      let rows = 0
      for (const { stream, chunks, range } of stretches)
        for (const chunk of chunks) {
          const isWhole = chunk.maxStep < (range.maxStep ?? Infinity)
          const lines = isWhole ? undefined : await linesOf(stream, chunk)
          rows += lines?.filter((line) => isWithin(range, line)).length ?? chunk.rows
        }
      return rows
    },
    lastLine: async (place) => {
      const stretches = await stretchesOf(place, NO_RANGE)
      for (const { stream, chunks, range } of [...stretches].reverse())
        for (const chunk of [...chunks].reverse()) {
          if (chunk.of !== 'lines') continue
          const last = (await linesOf(stream, chunk)).findLast((line) => isWithin(range, line))
          if (last !== undefined) return last.text
        }
      return undefined
    },
    keys: async (place) => {
      const stretches = await stretchesOf(place, NO_RANGE)
      if (stretches.length > 1) return keysOf(placedIn(stretches))
      const stream = runStream(place.project, place.run)
      const read = known.get(stream) ?? { rows: 0, keys: new Map() }
      const pause = yielding()
      const { chunks = [], highestStep = 0 } = stretches[0] ?? {}
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
    },
  }
}

/** In chunks: a client sends metrics of different parts of a machine in different lines. */
const LAST_SYSTEM = 4

/** In characters: the whole page is held in memory. */
const LONGEST_PAGE = 64 * 1024 * 1024

const tooLong = ({ minStep, maxStep }: StepRange): Failure =>
  new Failure(
    'bad-request',
    `The steps from ${minStep ?? 0} to before ${maxStep ?? 'the end'} have more than 64 MiB of rows. Ask for fewer steps ` +
      'at once, such as with scan_history(page_size=100).',
  )

const NO_RANGE: StepRange = { minStep: null, maxStep: null }

/** What a history has of one run. */
interface Stretch {
  readonly stream: string
  readonly chunks: readonly HistoryChunk[]
  readonly range: StepRange
  readonly highestStep: number
}

const mayHave = ({ minStep, maxStep }: StepRange, chunk: HistoryChunk): boolean =>
  (minStep === null || chunk.maxStep >= minStep) && (maxStep === null || chunk.minStep < maxStep)

const isWithin = ({ minStep, maxStep }: StepRange, { step }: PlacedLine): boolean =>
  (minStep === null || step >= minStep) && (maxStep === null || step < maxStep)

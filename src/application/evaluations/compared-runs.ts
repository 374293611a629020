import {
  compareRuns,
  type ComparedRun,
  type ComparedScore,
  type Comparison,
} from '../../domain/evaluations/comparison.js'
import { foldRows, type FoldedRow } from '../../domain/evaluations/folded-rows.js'
import type { EvaluationRow } from '../../domain/evaluations/row.js'
import { predictionOf, rowOfCalls } from '../../domain/evaluations/rows-of-calls.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { versionedCache } from '../../kernel/versioned-cache.js'
import { inSteps, yielding } from '../../kernel/yield-to-event-loop.js'
import { traceChanges } from '../../projections/calls/trace-changes.js'
import { invalidField } from '../failure.js'
import type { Reading } from '../reading/reading.js'
import { noSuchRun } from './logged-runs.js'
import { rowCallsOf, rowCostsFrom } from './read-rows.js'
import { runsAt } from './results.js'

/** The rows of all runs are in memory at once, without examples and outputs. */
const MAX_ROWS = 50_000
/** About 50 MB. */
const MAX_KEPT_ROWS = 120_000

interface ComparedRunsQuery {
  readonly projectId: string
  readonly runIds: readonly string[]
  readonly position: Position
}

/** The scores, costs and latencies of runs. A run is read again only when its calls, their feedback or prices changed. */
const runReaderFrom = ({ reading, sha256 }: RunServices) => {
  const costsOf = rowCostsFrom(reading)
  const rowOf = rowOfCalls(sha256)
  const kept = versionedCache<ComparedRun>({ maxSize: MAX_KEPT_ROWS, sizeOf: ({ rows }) => rows.length + 1 })

  const readRun = async (
    reader: ClickHouseReader,
    { projectId, position }: ComparedRunsQuery,
    run: EvaluationCall,
    costOf: Awaited<ReturnType<typeof costsOf>>['costOf'],
  ) => {
    const rows: EvaluationRow[] = []
    const costs = new Map<string, number>()
    let isInItsTrace = true
    const pause = yielding()
    for await (const page of rowCallsOf(reader)(projectId, run.id, position))
      for (const calls of page) {
        const { row } = calls
        const cost = costOf(predictionOf(calls))
        if (cost !== null) costs.set(row.id, cost)
        rows.push({ ...rowOf(calls), example: null, output: null })
        isInItsTrace &&= [row, ...calls.children].every(({ trace_id }) => trace_id === run.trace_id)
        if (rows.length > MAX_ROWS) throw tooManyRows()
        await pause()
      }
    return { run: { rows, costOf: ({ id }) => costs.get(id) } satisfies ComparedRun, isInItsTrace }
  }

  return async (reader: ClickHouseReader, query: ComparedRunsQuery, runs: readonly EvaluationCall[]) => {
    const { projectId, position } = query
    const traces = runs.map(({ trace_id }) => trace_id)
    const [{ costOf, version: prices }, changes] = await Promise.all([
      costsOf(reader, projectId, position),
      traceChanges(reader, projectId, traces, position),
    ])
    const compared: ComparedRun[] = []
    const versions: string[] = []
    for (const run of runs) {
      const change = changes.get(run.trace_id)
      const isKnown = change !== undefined && prices !== undefined
      const version = `${reading.generation()} ${String(change)} ${String(prices)}`
      const key = `${projectId}\n${run.id}`
      const known = isKnown ? kept.get(key, version) : undefined
      const read = known === undefined ? await readRun(reader, query, run, costOf) : undefined
      if (read?.isInItsTrace === true && isKnown) kept.put(key, version, read.run)
      compared.push(known ?? read!.run)
      versions.push(read?.isInItsTrace === false || !isKnown ? '' : version)
    }
    return { compared, versions: versions.includes('') ? undefined : versions.join('\n') }
  }
}

interface RunServices {
  readonly reading: Pick<Reading, 'generation'>
  readonly sha256: Sha256
}

interface RunsComparison extends Comparison {
  readonly found: readonly EvaluationCall[]
  /** Largest regression first. */
  readonly folded: readonly FoldedRow[]
}

type Direction = (
  field: Pick<ComparedScore, 'scorer' | 'path'>,
  all: readonly Pick<ComparedScore, 'scorer' | 'path'>[],
) => boolean

/** Compares runs with the first of them. The last comparisons are kept, so that further pages of their rows cost little. */
export const comparisonsFrom = (services: RunServices) => {
  const readRuns = runReaderFrom(services)
  const kept = versionedCache<Omit<RunsComparison, 'found'>>({
    maxSize: MAX_KEPT_ROWS,
    sizeOf: ({ rows }) => rows.length + 1,
  })
  return async (
    reader: ClickHouseReader,
    query: ComparedRunsQuery,
    lowerIsBetter: readonly string[],
    isLowerBetter: Direction,
  ): Promise<RunsComparison> => {
    const { projectId, runIds, position } = query
    const unordered = await runsAt(reader, projectId, runIds, position)
    if (unordered.length < runIds.length) throw noSuchRun()
    const found = runIds.map((id) => unordered.find((call) => call.id === id)!)
    const { compared, versions } = await readRuns(reader, query, found)
    const key = JSON.stringify([projectId, runIds, lowerIsBetter])
    const known = versions === undefined ? undefined : kept.get(key, versions)
    if (known !== undefined) return { ...known, found }
    const comparison = await inSteps(compareRuns(compared, isLowerBetter))
    const result = { ...comparison, folded: await inSteps(foldRows(comparison.rows)) }
    if (versions !== undefined) kept.put(key, versions, result)
    return { ...result, found }
  }
}

const tooManyRows = () =>
  invalidField(['evaluation_run_ids'], 'value_error', `Value error, a run has more than ${MAX_ROWS} rows`)

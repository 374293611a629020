import type { ScoredRow } from '../../domain/evaluations/row.js'
import { predictionOf, rowOfCalls } from '../../domain/evaluations/rows-of-calls.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { versionedCache } from '../../kernel/versioned-cache.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { traceChanges } from '../../projections/calls/trace-changes.js'
import type { EvaluationRowsOptions } from '../../projections/evaluations/rows-pass.js'
import { areStored, readStoredRows } from '../../projections/evaluations/stored-rows.js'
import { invalidField } from '../failure.js'
import type { Reading } from '../reading/reading.js'
import { type CostOf, rowCallsOf, rowCostsFrom } from './read-rows.js'

/** The rows of all runs are in memory at once, without examples and outputs. */
const MAX_ROWS = 50_000
/** About 50 MB. */
export const MAX_KEPT_ROWS = 120_000

export interface RunServices {
  readonly reading: Pick<Reading, 'generation'>
  readonly sha256: Sha256
}

interface RunOfTrace {
  readonly id: string
  readonly trace_id: string
}

interface RunsQuery {
  readonly projectId: string
  readonly position: Position
}

/** Equal versions of a run have equal rows. It is undefined where the prices changed after the position. */
const versionsFrom = ({ reading }: Pick<RunServices, 'reading'>) => {
  const costsOf = rowCostsFrom(reading)
  return async (
    reader: ClickHouseReader,
    { projectId, position }: RunsQuery,
    runs: readonly RunOfTrace[],
  ) => {
    const traces = runs.map(({ trace_id }) => trace_id)
    const [{ costOf, version: prices }, changes] = await Promise.all([
      costsOf(reader, projectId, position),
      traceChanges(reader, projectId, traces, position),
    ])
    const versionOf = ({ trace_id }: RunOfTrace): string | undefined => {
      const change = changes.get(trace_id)
      return change === undefined || prices === undefined ? undefined : `${change} ${prices}`
    }
    return { costOf, versionOf }
  }
}

/**
 * Reads the rows of a run from its calls; undefined where they are too many. The version of a run is that of its trace, so it
 * holds for rows within the trace alone.
 */
const rowsOfCalls = (sha256: Sha256) => {
  const rowOf = rowOfCalls(sha256)
  return async (
    reader: ClickHouseReader,
    { projectId, position }: RunsQuery,
    run: RunOfTrace,
    costOf: CostOf,
    signal?: AbortSignal,
  ) => {
    const rows: ScoredRow[] = []
    let isInItsTrace = true
    const pause = yielding()
    for await (const page of rowCallsOf(reader)(projectId, run.id, position))
      for (const calls of page) {
        signal?.throwIfAborted()
        const { id, exampleDigest, scores, modelLatency } = rowOf(calls)
        rows.push({ id, exampleDigest, scores, modelLatency, cost: costOf(predictionOf(calls)) })
        isInItsTrace &&= [calls.row, ...calls.children].every(({ trace_id }) => trace_id === run.trace_id)
        if (rows.length > MAX_ROWS) return undefined
        await pause()
      }
    return { rows, isInItsTrace }
  }
}

/**
 * The rows of runs with their scores, costs and latencies. Those of runs that ended a while ago are stored; others are read from
 * their calls, again only when calls, their feedback or prices changed.
 */
export const runRowsFrom = (services: RunServices) => {
  const versionsOf = versionsFrom(services)
  const readCalls = rowsOfCalls(services.sha256)
  const kept = versionedCache<readonly ScoredRow[]>({
    maxSize: MAX_KEPT_ROWS,
    sizeOf: (rows) => rows.length + 1,
  })

  return async (reader: ClickHouseReader, query: RunsQuery, runs: readonly RunOfTrace[]) => {
    const { projectId } = query
    const { costOf, versionOf } = await versionsOf(reader, query, runs)
    const keyOf = ({ id }: RunOfTrace) => `${projectId}\n${id}`
    const cacheVersion = (version: string) => `${services.reading.generation()} ${version}`
    const versions: (string | undefined)[] = []
    const compared: (readonly ScoredRow[])[] = []
    for (const run of runs) {
      const version = versionOf(run)
      const known =
        version &&
        (kept.get(keyOf(run), cacheVersion(version)) ??
          (await readStoredRows(reader, projectId, run.id, version)))
      const read = known ? { rows: known, isInItsTrace: true } : await readCalls(reader, query, run, costOf)
      if (read === undefined) throw tooManyRows()
      const { rows, isInItsTrace } = read
      const isKept = isInItsTrace && version !== undefined
      if (isKept) kept.put(keyOf(run), cacheVersion(version), rows)
      compared.push(rows)
      versions.push(isKept ? cacheVersion(version) : undefined)
    }
    return { compared, versions: versions.includes(undefined) ? undefined : versions.join('\n') }
  }
}

/** The rows of a run that are worth to be stored. */
export const rowsToStoreFrom = (
  reader: ClickHouseReader,
  services: RunServices,
): EvaluationRowsOptions['rowsOf'] => {
  const versionsOf = versionsFrom(services)
  const readCalls = rowsOfCalls(services.sha256)
  return async ({ projectId, runId, traceId }, position, signal) => {
    const run = { id: runId, trace_id: traceId }
    const { costOf, versionOf } = await versionsOf(reader, { projectId, position }, [run])
    const version = versionOf(run)
    if (version === undefined || (await areStored(reader, projectId, runId, version))) return undefined
    const read = await readCalls(reader, { projectId, position }, run, costOf, signal)
    return read?.isInItsTrace === true ? { version, rows: read.rows } : undefined
  }
}

const tooManyRows = () =>
  invalidField(['evaluation_run_ids'], 'value_error', `Value error, a run has more than ${MAX_ROWS} rows`)

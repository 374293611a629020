import { compareRuns, type ComparedScore, type Comparison } from '../../domain/evaluations/comparison.js'
import { foldRows, type FoldedRow } from '../../domain/evaluations/folded-rows.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { versionedCache } from '../../kernel/versioned-cache.js'
import { inSteps } from '../../kernel/yield-to-event-loop.js'
import { noSuchRun } from './logged-runs.js'
import { runsAt } from './results.js'
import { MAX_KEPT_ROWS, runRowsFrom, type RunServices } from './run-rows.js'

interface ComparedRunsQuery {
  readonly projectId: string
  readonly runIds: readonly string[]
  readonly position: Position
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
  const readRuns = runRowsFrom(services)
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

import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse, ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { blocksOf, type TableNote } from '../runtime/table-note.js'
import { repeating, type Repeating } from '../runtime/repeating.js'
import { select, sql, typed, type Sql } from '../sql.js'
import { readTotalsState, TOTALS, totalsOfTraces } from './totals-state.js'
import { USAGE_TOTALS } from './tables.js'
import { totalsKey, type TotalsRow } from './totals.js'

type Tables = Pick<ClickHouse, 'reader' | 'writer'>

const TRACES_AT_ONCE = 1000

/**
 * Brings `usage_totals` up to a projected position: replaces the rows of all traces that changed since the last pass, and
 * deletes rows that no longer exist. After a crash, the pass runs again and writes the same rows. Returns the position of
 * the rows.
 */
export const runTotalsPass = async (
  { reader, writer }: Tables,
  projected: Position,
  signal?: AbortSignal,
): Promise<Position> => {
  const { complete, target } = await readTotalsState(reader)
  const position = target > complete ? target : projected
  if (position <= complete || position > projected) return complete
  if (target === 0n) await writer.command('TRUNCATE TABLE usage_totals')
  if (target < position) await noteTarget(writer, position)
  for await (const { projectId, traceIds } of tracesOfPass(reader, complete, position)) {
    const seen = complete === 0n ? [] : await seenBy(reader, projectId, traceIds, complete)
    const after = totalsOfTraces(reader, projectId, traceIds, position)
    const keys = new Set<string>()
    for await (const rows of after) {
      if (seen.length > 0) for (const row of rows) keys.add(totalsKey(row))
      await insert(writer, rows, position)
      if (signal?.aborted === true) return complete
    }
    if (seen.length === 0) continue
    for await (const rows of totalsOfTraces(reader, projectId, seen, complete)) {
      const gone = rows.filter((row) => !keys.has(totalsKey(row)))
      await insert(writer, gone, position, true)
      if (signal?.aborted === true) return complete
    }
  }
  const blocks = (await blocksOf(writer, [USAGE_TOTALS.name])) ?? {}
  await note(writer, TOTALS.complete, position, JSON.stringify({ columns: {}, blocks } satisfies TableNote))
  return position
}

/**
 * Before rows as of a position are written, or exchanged for those in use: reads leave out the traces that changed up to it.
 */
export const noteTarget = (writer: Tables['writer'], position: Position): Promise<void> =>
  note(writer, TOTALS.target, position)

const note = (writer: Tables['writer'], projector: string, position: Position, tables = ''): Promise<void> =>
  writer.insert({
    table: 'checkpoints',
    columns: ['projector', 'position', 'tables'],
    values: [[projector, String(position), tables]],
  })

const insert = async (
  writer: Tables['writer'],
  rows: readonly TotalsRow[],
  position: Position,
  isDeleted = false,
): Promise<void> => {
  if (rows.length === 0) return
  await writer.insert({
    table: USAGE_TOTALS.name,
    columns: USAGE_TOTALS.names,
    values: rows.map((row) => [...row, String(position), Number(isDeleted)]),
  })
}

interface ProjectTraces {
  readonly projectId: string
  readonly traceIds: readonly string[]
}

/** The traces with events after `complete` and up to `position`, and all of projects whose `usage_reporting` changed. */
async function* tracesOfPass(
  reader: Pick<ClickHouseReader, 'query'>,
  complete: Position,
  position: Position,
): AsyncGenerator<ProjectTraces> {
  const projects = await select<{ project_id: string }>(
    reader,
    sql`SELECT DISTINCT project_id FROM usage_reporting
    WHERE position > ${complete} AND position <= ${position} ORDER BY project_id`,
  )
  const changed = projects.map(({ project_id }) => project_id)
  for (const project of changed) yield* pagesOf(reader, sql`project_id = ${project}`)
  yield* pagesOf(reader, sql`position > ${complete} AND project_id NOT IN ${changed}`)
}

/** As `tracesOfPass`, without an end. */
export const tracesChangedAfter = (
  reader: Pick<ClickHouseReader, 'query'>,
  position: Position,
): AsyncGenerator<ProjectTraces> => tracesOfPass(reader, position, MAX_POSITION)

const MAX_POSITION = 2n ** 63n - 1n

async function* pagesOf(
  reader: Pick<ClickHouseReader, 'query'>,
  condition: Sql,
): AsyncGenerator<ProjectTraces> {
  let [afterProject, afterTrace] = ['', '']
  for (let isLast = false; !isLast;) {
    const page = await select<{ project_id: string; trace_id: string }>(
      reader,
      sql`SELECT DISTINCT project_id, trace_id FROM usage_facts WHERE ${condition}
      AND (project_id > ${afterProject} OR project_id = ${afterProject} AND trace_id > ${afterTrace})
      ORDER BY project_id, trace_id LIMIT ${typed('UInt64', TRACES_AT_ONCE)}`,
    )
    isLast = page.length < TRACES_AT_ONCE
    const byProject = new Map<string, string[]>()
    for (const { project_id, trace_id } of page) {
      byProject.set(project_id, byProject.get(project_id) ?? [])
      byProject.get(project_id)!.push(trace_id)
      ;[afterProject, afterTrace] = [project_id, trace_id]
    }
    for (const [projectId, traceIds] of byProject) yield { projectId, traceIds }
  }
}

/** The traces that may have rows of the last pass. */
const seenBy = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  traceIds: readonly string[],
  complete: Position,
): Promise<readonly string[]> => {
  const rows = await select<{ trace_id: string }>(
    reader,
    sql`SELECT DISTINCT trace_id FROM usage_facts WHERE project_id = ${projectId}
    AND trace_id IN ${traceIds} AND started_position BETWEEN 1 AND ${complete}`,
  )
  return rows.map(({ trace_id }) => trace_id)
}

export interface TotalsOptions extends Tables {
  /** The position up to which events are projected. */
  readonly reached: () => Position
  /** Resolves after the next insert of projected rows, or on abort. */
  readonly nextInsert: (timeoutMs: number, signal: AbortSignal) => Promise<unknown>
  readonly log: Pick<Log, 'error'>
  readonly pauseMs?: number
}

/** Short passes take at most a fifth of the time. A backlog is worked off with short rests. */
const REST = 4
const MAX_REST_MS = 10_000
/** Each read sums up what changed since the last pass, which takes longer than frequent passes. */
const PAUSE_MS = 500

/** Repeats the totals pass while events are projected. */
export const startTotals = (options: TotalsOptions): Repeating => {
  const { reached, nextInsert, log, pauseMs = PAUSE_MS } = options
  const repeat = async (signal: AbortSignal): Promise<void> => {
    let durationMs = 0
    let summedUp = 0n
    let failing = ''
    for (;;) {
      await sleep(Math.max(pauseMs, Math.min(REST * durationMs, MAX_REST_MS)), undefined, {
        signal,
        ref: false,
      }).catch(() => undefined)
      while (reached() === summedUp && !signal.aborted) await nextInsert(Infinity, signal)
      if (signal.aborted) return
      const position = reached()
      const begin = performance.now()
      try {
        summedUp = await runTotalsPass(options, position, signal)
        failing = ''
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        if (reason !== failing) log.error('usage.totals_failed', { reason })
        failing = reason
      }
      durationMs = performance.now() - begin
    }
  }
  return repeating(repeat)
}

import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Instant } from '../kernel/codec/instant.js'
import type { ClickHouseReader, TimeRange } from '../kernel/ports/clickhouse.js'
import { dateTime64, SQL_TIME, timeRange } from './clickhouse-values.js'
import { unlessRefused } from './refused.js'
import { joined, raw, select, sql, typed, type Sql } from './sql.js'

/**
 * Reads the rows of a table that is ordered by `started_at`, each key once: `SELECT`, `FROM` and `WHERE`. `ofUnmerged` is the
 * same condition where it is cheaper on rows that need no merge.
 */
export type MergedRows = (columns: Sql, table: Table, where: Sql, ofUnmerged?: Sql) => Sql

/** Merges all rows. */
export const ALL_MERGED: MergedRows = (columns, table, where) =>
  sql`SELECT ${columns} FROM ${raw(table)} FINAL WHERE ${where}`

const TABLES = ['calls', 'usage_totals'] as const
type Table = (typeof TABLES)[number]

interface Began {
  readonly from: Instant
  readonly to: Instant
}

export interface RowsOfProject {
  readonly projectId: string
  /** Only rows that started at `from` or later, and before `to`, are read. */
  readonly began?: Began | undefined
}

/** All rows of tables without an entry are merged. */
export type MergedTables = { readonly [Name in Table]?: MergedRows }

/**
 * Reads many rows of tables. Rows are merged only where several parts have some: a part has one row a key, so the rows of a
 * key are in several parts only there. A month of calls takes six times as long with FINAL, because the engine itself sees
 * an overlap with every part that has an earlier and a later project. Rows that are inserted meanwhile must not matter, as
 * for reads as of a position. If tables are exchanged meanwhile, it reads again with all rows merged.
 *
 * All rows of replicated tables are merged: statements may go to different replicas, whose parts differ.
 */
export const readMerged = async <A>(
  reader: ClickHouseReader,
  selected: RowsOfProject,
  tables: readonly Table[],
  read: (rows: MergedTables) => Promise<A>,
): Promise<A> => {
  if (tables.length === 0) return read({})
  const before = await partsOf(reader, tables)
  const rows = await mergedTables(reader, selected, before)
  const answer = await read(rows)
  const exchanged = Object.keys(rows).length > 0 && !sameTables(before, await partsOf(reader, tables))
  return exchanged ? read({}) : answer
}

/** An immutable file with rows of a table. */
export interface Part {
  readonly table: Table
  readonly engine: string
  readonly name: string
  /** Its directory, in that of the table. */
  readonly path: string
  readonly hash: string
}

/** A user of a server may lack the grant to list parts. Then all rows are merged for this long. */
export const REFUSAL_MS = 60 * 60_000

/** The parts of tables, none if the server refuses to list them. */
export const partsOf = async (
  reader: ClickHouseReader,
  tables: readonly Table[],
): Promise<readonly Part[]> => {
  if (performance.now() < reader.knownParts.refusedUntil) return []
  const parts = await unlessRefused(
    select<Part>(
      reader,
      sql`SELECT table, engine, name, path, hash_of_all_files AS hash FROM system.parts
      WHERE active AND database = currentDatabase() AND table IN ${tables}`,
    ),
  )
  if (parts === undefined) reader.knownParts.refusedUntil = performance.now() + REFUSAL_MS
  return parts ?? []
}

const UNREPLICATED = new Set(['CoalescingMergeTree', 'ReplacingMergeTree'])

/** Statements may go to different replicas, whose parts differ. */
export const isReplicated = (parts: readonly Part[]): boolean =>
  parts.some(({ engine }) => !UNREPLICATED.has(engine))

const sameTables = (before: readonly Part[], after: readonly Part[]): boolean =>
  isDeepStrictEqual(directoriesOf(before), directoriesOf(after))

const directoriesOf = (parts: readonly Part[]): ReadonlySet<string> =>
  new Set(parts.map(({ path }) => dirname(path)))

const rangesKey = (projectId: string, { path, hash }: Part): string => `${projectId}\n${path}\n${hash}`

const mergedTables = async (
  reader: ClickHouseReader,
  { projectId, began }: RowsOfProject,
  parts: readonly Part[],
): Promise<MergedTables> => {
  if (isReplicated(parts)) return {}
  const entries = await Promise.all(
    TABLES.map(async (table) => {
      const ofTable = parts.filter((part) => part.table === table)
      if (ofTable.length === 0) return []
      const days = await dayRanges(reader, projectId, table, ofTable)
      if (days === undefined) return []
      const overlaps = overlapsOf(began === undefined ? days : days.filter(mayHaveStarted(began)))
      return [[table, mergingWithin(overlaps)]]
    }),
  )
  return Object.fromEntries(entries.flat()) as MergedTables
}

const mayHaveStarted = ({ from, to }: Began) => {
  const [first, end] = [dateTime64(from), dateTime64(to)]
  return (range: TimeRange): boolean => range.from < end && first <= range.to
}

/**
 * By day, so that a single row of another time does not make the range of a part long. Undefined if parts were replaced
 * meanwhile.
 */
const dayRanges = async (
  reader: ClickHouseReader,
  projectId: string,
  table: Table,
  parts: readonly Part[],
): Promise<readonly TimeRange[] | undefined> => {
  const known = parts.map((part) => reader.knownParts.ranges.get(rangesKey(projectId, part)))
  const unknown = parts.filter((_, n) => known[n] === undefined)
  const found = known.flatMap((ranges) => ranges ?? [])
  if (unknown.length === 0) return found
  const names = unknown.map(({ name }) => name)
  const days = await select<TimeRange & { part: string }>(
    reader,
    sql`SELECT any(_part) AS part, ${raw(timeRange('started_at'))} FROM ${raw(table)}
    WHERE project_id = ${projectId} AND _part IN ${names}
    GROUP BY _part_index, toRelativeDayNum(started_at)`,
  )
  const keys = new Set((await partsOf(reader, [table])).map((part) => rangesKey(projectId, part)))
  if (unknown.some((part) => !keys.has(rangesKey(projectId, part)))) return undefined
  for (const part of unknown) {
    const ranges = days.filter((day) => day.part === part.name).map(({ from, to }) => ({ from, to }))
    reader.knownParts.ranges.set(rangesKey(projectId, part), ranges)
    found.push(...ranges)
  }
  return found
}

/** Merges only rows within ranges. */
const mergingWithin =
  (ranges: readonly TimeRange[]): MergedRows =>
  (columns, table, where, ofUnmerged = where) => {
    const unmerged = sql`SELECT ${columns} FROM ${raw(table)} WHERE ${ofUnmerged}`
    if (ranges.length === 0) return unmerged
    const within = joined(
      ranges.map(
        ({ from, to }) => sql`started_at BETWEEN ${typed(SQL_TIME, from)} AND ${typed(SQL_TIME, to)}`,
      ),
      ' OR ',
    )
    return sql`${unmerged} AND NOT (${within}) UNION ALL ${ALL_MERGED(columns, table, sql`${where} AND (${within})`)}`
  }

/** Each is a condition of the statement. */
const MAX_RANGES = 32

/** What several ranges cover, as ascending ranges; more than the limit are joined where they are next to each other. */
export const overlapsOf = (ranges: readonly TimeRange[], limit = MAX_RANGES): readonly TimeRange[] => {
  const overlaps: TimeRange[] = []
  let reached = ''
  for (const { from, to } of ranges.toSorted((a, b) => compare(a.from, b.from))) {
    if (from <= reached) {
      const overlap = { from, to: to < reached ? to : reached }
      const last = overlaps.at(-1)
      if (last === undefined || last.to < from) overlaps.push(overlap)
      else if (last.to < overlap.to) overlaps[overlaps.length - 1] = { from: last.from, to: overlap.to }
    }
    if (to > reached) reached = to
  }
  return joinedRanges(overlaps, limit)
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const milliseconds = (time: string): number => Date.parse(`${time.replace(' ', 'T')}Z`)

const joinedRanges = (ranges: readonly TimeRange[], limit: number): readonly TimeRange[] => {
  if (ranges.length <= limit) return ranges
  const gapBefore = (n: number) => milliseconds(ranges[n]!.from) - milliseconds(ranges[n - 1]!.to)
  const widest = Array.from({ length: ranges.length - 1 }, (_, n) => n + 1)
    .toSorted((a, b) => gapBefore(b) - gapBefore(a))
    .slice(0, limit - 1)
    .toSorted((a, b) => a - b)
  const starts = [0, ...widest]
  return starts.map((start, n) => ({
    from: ranges[start]!.from,
    to: ranges[(starts[n + 1] ?? ranges.length) - 1]!.to,
  }))
}

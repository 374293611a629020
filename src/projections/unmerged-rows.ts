import type { ClickHouseReader, SqlParameters } from '../domain/ports/clickhouse.js'
import { timeRange } from './clickhouse-values.js'

/** Start times as ClickHouse prints them, both included. */
export interface TimeRange {
  readonly from: string
  readonly to: string
}

/** Reads the rows of a table that is ordered by `started_at`, each key once. */
export interface MergedRows {
  /** `SELECT`, `FROM` and `WHERE`. */
  readonly sql: (columns: string, table: string, where: string) => string
  readonly parameters: SqlParameters
}

/** Merges all rows. */
export const ALL_MERGED: MergedRows = {
  sql: (columns, table, where) => `SELECT ${columns} FROM ${table} FINAL WHERE ${where}`,
  parameters: {},
}

/** Conditions on the key of a table, by which its rows are found. */
interface KeyCondition {
  readonly where: string
  readonly parameters: SqlParameters
}

type Tables<A> = { readonly [Table in 'calls' | 'usage_totals']?: A }

/** All rows of tables without an entry are merged. */
export type MergedTables = Tables<MergedRows>

/**
 * Reads many rows of tables. Rows are merged only where several parts have some: a part has one row a key, so the rows of a
 * key are in several parts only there. A month of calls takes six times as long with FINAL, because the engine itself sees
 * an overlap with every part that has an earlier and a later project. Rows that are inserted meanwhile must not matter, as
 * for reads as of a position. If tables are exchanged meanwhile, it reads again with all rows merged.
 *
 * All rows of replicated tables are merged: statements may go to different replicas, whose parts differ.
 */
export const readMerged = async <A>(
  reader: Pick<ClickHouseReader, 'query'>,
  conditions: Tables<KeyCondition>,
  read: (rows: MergedTables) => Promise<A>,
): Promise<A> => {
  const tables = Object.entries(conditions)
  if (tables.length === 0) return read({})
  const names = tables.map(([table]) => table)
  const before = await identitiesOf(reader, names)
  if (before.some(mayDifferByReplica)) return read({})
  const rows = await Promise.all(
    tables.map(async ([table, condition]) => [table, await mergedRows(reader, table, condition)] as const),
  )
  const answer = await read(Object.fromEntries(rows))
  return sameTables(before, await identitiesOf(reader, names)) ? answer : read({})
}

interface TableIdentity {
  readonly uuid: string
  readonly engine: string
}

const mayDifferByReplica = ({ engine }: TableIdentity): boolean => !UNREPLICATED.has(engine)
const UNREPLICATED = new Set(['CoalescingMergeTree', 'ReplacingMergeTree'])

const sameTables = (before: readonly TableIdentity[], after: readonly TableIdentity[]): boolean =>
  before.length === after.length && before.every(({ uuid }, n) => uuid === after[n]!.uuid)

const identitiesOf = (
  reader: Pick<ClickHouseReader, 'query'>,
  tables: readonly string[],
): Promise<readonly TableIdentity[]> =>
  reader.query(
    `SELECT toString(uuid) AS uuid, engine FROM system.tables
    WHERE database = currentDatabase() AND name IN {tables:Array(String)} ORDER BY name`,
    { tables },
  )

const mergedRows = async (
  reader: Pick<ClickHouseReader, 'query'>,
  table: string,
  { where, parameters }: KeyCondition,
): Promise<MergedRows> => {
  const overlapsBetween = async (groups: string, condition = '', given: SqlParameters = {}) =>
    overlapsOf(
      await reader.query<TimeRange>(
        `SELECT ${timeRange('started_at')} FROM ${table} WHERE ${where} ${condition} GROUP BY ${groups}`,
        { ...parameters, ...given },
      ),
    )
  // Ranges by day take three times as long to read, so they are read only where parts overlap.
  const ofParts = isWithin(table, await overlapsBetween('_part_index'))
  if (ofParts === undefined) return UNMERGED
  // By day, so that a single row of another time does not make the range of a part long.
  const days = '_part_index, toRelativeDayNum(started_at)'
  return mergingWithin(
    isWithin(table, await overlapsBetween(days, `AND ${ofParts.condition}`, ofParts.parameters)),
  )
}

const UNMERGED: MergedRows = {
  sql: (columns, table, where) => `SELECT ${columns} FROM ${table} WHERE ${where}`,
  parameters: {},
}

const mergingWithin = (within: ReturnType<typeof isWithin>): MergedRows =>
  within === undefined
    ? UNMERGED
    : {
        sql: (columns, table, where) =>
          `${UNMERGED.sql(columns, table, `${where} AND NOT ${within.condition}`)}
          UNION ALL ${ALL_MERGED.sql(columns, table, `${where} AND ${within.condition}`)}`,
        parameters: within.parameters,
      }

const TIME = "DateTime64(6, 'UTC')"

/** Whether `started_at` is within ranges; undefined for no ranges. */
const isWithin = (prefix: string, ranges: readonly TimeRange[]) => {
  if (ranges.length === 0) return undefined
  const conditions = ranges.map(
    (_, n) => `started_at BETWEEN {${prefix}_from_${n}:${TIME}} AND {${prefix}_to_${n}:${TIME}}`,
  )
  const parameters = ranges.flatMap(({ from, to }, n) => [
    [`${prefix}_from_${n}`, from],
    [`${prefix}_to_${n}`, to],
  ])
  return {
    condition: `(${conditions.join(' OR ')})`,
    parameters: Object.fromEntries(parameters) as SqlParameters,
  }
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
  return joined(overlaps, limit)
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const milliseconds = (time: string): number => Date.parse(`${time.replace(' ', 'T')}Z`)

const joined = (ranges: readonly TimeRange[], limit: number): readonly TimeRange[] => {
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

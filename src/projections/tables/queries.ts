import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { jsonAt, partAt } from '../expression/json.js'
import { joined, raw, sql, statementOf, typed, type Sql } from '../sql.js'
import { JSON_SETTINGS, mayBeWide, readableJson } from '../expression/readable-json.js'
import { nativeBlocks, type Numbers, type Strings } from '../usage/native.js'

/** The row counts of those of the given tables that exist at a position. */
export const tableStats =
  (reader: ClickHouseReader) => (projectId: string, digests: readonly string[], position: Position) =>
    reader.query<{ readonly digest: string; readonly row_count: number }>(
      `SELECT digest, max(row_count) AS row_count FROM tables
      WHERE project_id = {project:String} AND digest IN {digests:Array(String)} AND position <= {position:UInt64}
      GROUP BY digest`,
      { project: projectId, digests, position },
    )

/** Bytes of JSON of the rows of tables; a row counts as often as it is in its table. */
export const tableBytes =
  (reader: ClickHouseReader) =>
  async (projectId: string, digests: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const rows = await reader.query<{ table_digest: string; bytes: number }>(
      `SELECT table_digest, sum(contents.bytes) AS bytes FROM
        (SELECT table_digest, arrayJoin(row_digests) AS row_digest FROM table_entries FINAL
        WHERE project_id = {project:String} AND table_digest IN {digests:Array(String)}) AS entries
      ANY LEFT JOIN
        (SELECT digest, bytes FROM table_rows
        WHERE project_id = {project:String} AND digest IN (SELECT arrayJoin(row_digests) FROM table_entries
          WHERE project_id = {project:String} AND table_digest IN {digests:Array(String)})) AS contents
      ON contents.digest = entries.row_digest
      GROUP BY table_digest`,
      { project: projectId, digests },
    )
    return new Map(rows.map(({ table_digest, bytes }) => [table_digest, bytes]))
  }

const OF_PROJECT = `project_id = {project:String} AND digest IN {digests:Array(String)} AND position <= {position:UInt64}`

/** JSON texts of at most some thousand rows, by digest. Missing rows are omitted. */
export const rowsByDigest =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    digests: readonly string[],
    position: Position,
  ): Promise<ReadonlyMap<string, string>> => {
    if (digests.length === 0) return new Map()
    const rows = await reader.query<{ digest: string; json: string }>(
      `SELECT digest, val AS json FROM table_rows WHERE ${OF_PROJECT}`,
      { project: projectId, digests: [...new Set(digests)], position },
    )
    return new Map(rows.map(({ digest, json }) => [digest, json]))
  }

/** Which of the given rows a project has. */
export const knownRows =
  (reader: ClickHouseReader) =>
  async (projectId: string, digests: readonly string[], position: Position): Promise<ReadonlySet<string>> => {
    const rows = await reader.query<{ digest: string }>(
      `SELECT DISTINCT digest FROM table_rows WHERE ${OF_PROJECT}`,
      { project: projectId, digests, position },
    )
    return new Set(rows.map(({ digest }) => digest))
  }

interface RowInTable {
  readonly tableDigest: string
  readonly rowDigest: string
}

interface RowAtIndex {
  readonly tableDigest: string
  /** From 0. */
  readonly index: number
}

/** Rows per statement. */
const AT_ONCE = 5000

/** JSON texts of rows of tables in their order; undefined where a table has no such row at the position. */
const valuesBy =
  <Row extends { readonly tableDigest: string }>(column: string, nameOf: (row: Row) => string | number) =>
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    rows: readonly Row[],
    position: Position,
  ): Promise<readonly (string | undefined)[]> => {
    const values: (string | undefined)[] = []
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const part = rows.slice(at, at + AT_ONCE)
      const keys = part.map((row) => `${row.tableDigest}/${nameOf(row)}`)
      const found = await reader.query<{ key: string; row_digest: string }>(
        `SELECT DISTINCT concat(table_digest, '/', ${column}) AS key, row_digest
        FROM table_entries
        ARRAY JOIN row_digests AS row_digest, arrayEnumerate(row_digests) AS n
        WHERE project_id = {project:String} AND table_digest IN {tables:Array(String)}
          AND position <= {position:UInt64} AND key IN {keys:Array(String)}`,
        {
          project: projectId,
          tables: [...new Set(part.map(({ tableDigest }) => tableDigest))],
          keys: [...new Set(keys)],
          position,
        },
      )
      const digests = new Map(found.map(({ key, row_digest }) => [key, row_digest]))
      const contents = await rowsByDigest(reader)(projectId, [...digests.values()], position)
      for (const key of keys) values.push(contents.get(digests.get(key) ?? ''))
    }
    return values
  }

export const rowValues = valuesBy<RowInTable>('row_digest', ({ rowDigest }) => rowDigest)

export const rowValuesByIndex = valuesBy<RowAtIndex>('toString(first_index + n - 1)', ({ index }) => index)

export interface SortBy {
  /** The keys that lead to the value within a row. */
  readonly path: readonly string[]
  readonly direction: 'asc' | 'desc'
}

export interface TableQuery {
  readonly projectId: string
  readonly tableDigest: string
  /** Only rows of these digests; null for all. */
  readonly rowDigests: readonly string[] | null
  readonly sortBy: readonly SortBy[]
  readonly limit: number | null
  readonly offset: number
}

/** A row of a table without its content; about 120 bytes in memory. */
export interface TableEntry {
  /** In the table, from 0. */
  readonly index: number
  readonly digest: string
  /** Bytes of the row's JSON. */
  readonly bytes: number
}

/** The largest index. */
const MAX_INDEX = 4_294_967_295

/** The rows of a table that a query selects, in its order. */
export const tableOrder =
  (reader: ClickHouseReader) =>
  async ({
    projectId,
    tableDigest,
    rowDigests,
    sortBy,
    limit,
    offset,
  }: TableQuery): Promise<readonly TableEntry[]> => {
    const { columns, order } = sorting(sortBy)
    const [from, count] = [Math.min(offset, MAX_INDEX), Math.min(limit ?? MAX_INDEX, MAX_INDEX)]
    const [first, size, end] = [from, count, from + count].map((index) => typed('UInt64', index)) as [
      Sql,
      Sql,
      Sql,
    ]
    const isWhole = rowDigests === null && sortBy.length === 0
    const within = sql`AND first_index < ${end} AND first_index + length(row_digests) > ${first}
      AND index >= ${first} AND index < ${end}`
    const selected = sql`
      SELECT first_index + n - 1 AS index, row_digest
      FROM table_entries FINAL
      ARRAY JOIN row_digests AS row_digest, arrayEnumerate(row_digests) AS n
      WHERE project_id = ${projectId} AND table_digest = ${tableDigest}
      ${isWhole ? within : sql``} ${rowDigests === null ? sql`` : sql`AND row_digest IN ${rowDigests}`}`
    const { text: statement, parameters } = statementOf(
      sql`SELECT toUInt32(entries.index), entries.row_digest, toUInt32(contents.bytes)
      FROM (${selected}) AS entries
      ANY LEFT JOIN (
        SELECT digest, bytes ${columns} FROM table_rows
        WHERE project_id = ${projectId} AND digest IN (SELECT row_digest FROM (${selected}))
      ) AS contents ON contents.digest = entries.row_digest
      ORDER BY ${order} entries.index
      ${isWhole ? sql`` : sql`LIMIT ${size} OFFSET ${first}`}
      SETTINGS ${raw(JSON_SETTINGS)}`,
    )
    const chunks = reader.stream(statement, parameters)
    const entries: TableEntry[] = []
    for await (const { rows, columns } of nativeBlocks(chunks)) {
      const [index, digest, bytes] = columns as [Numbers, Strings, Numbers]
      const text = Buffer.from(digest.bytes.buffer, digest.bytes.byteOffset, digest.bytes.byteLength)
      for (let row = 0; row < rows; row += 1)
        entries.push({
          index: index.values[row]!,
          digest: text.toString('latin1', digest.starts[row], digest.ends[row]),
          bytes: bytes.values[row]!,
        })
    }
    return entries
  }

/**
 * Numbers come before text in either direction; other values (null, a list, an object, none) come last. Booleans are
 * text. `columns` are selected from `table_rows`, each after a comma; `order` has a comma after each term.
 */
const sorting = (sortBy: readonly SortBy[]) => {
  const columns =
    sortBy.length === 0
      ? []
      : [raw(`, ${mayBeWide('val')} AS is_wide, ${readableJson('val', 'is_wide')} AS readable`)]
  let order = ''
  for (const [i, { path, direction }] of sortBy.entries()) {
    const at = `part_${i}`
    columns.push(
      sql`, ${partAt(jsonAt(raw('readable'), 'is_wide', path))} AS ${raw(`${at}
      , toString(JSONType(${at})) AS type_${i}
      , multiIf(type_${i} IN ('Int64', 'UInt64', 'Double'), 0, type_${i} IN ('String', 'Bool'), 1, 2) AS kind_${i}
      , if(kind_${i} = 0, JSONExtractFloat(${at}), 0.) AS number_${i}
      , if(kind_${i} = 0, toInt256OrZero(JSONExtractString(${at})), 0) AS exact_${i}
      , if(kind_${i} = 1, JSONExtractString(${at}), '') AS text_${i}`)}`,
    )
    order += `kind_${i}, number_${i} ${direction.toUpperCase()}, exact_${i} ${direction.toUpperCase()}, text_${i} ${direction.toUpperCase()}, `
  }
  return { columns: joined(columns, ''), order: raw(order) }
}

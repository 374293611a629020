import type { ClickHouseReader, SqlParameters } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { rowsByDigest } from './row-contents.js'

interface RowInTable {
  readonly tableDigest: string
  readonly rowDigest: string
}

interface RowAtIndex {
  readonly tableDigest: string
  /** From 0. */
  readonly index: number
}

type Values = readonly (string | undefined)[]

/** Rows looked for in one statement. */
const AT_ONCE = 5000

/**
 * What rows of tables hold, as JSON text, in the order of the rows; undefined where there is no such table, or it has
 * no such row, at a position.
 */
export const rowValues =
  (reader: ClickHouseReader) =>
  (projectId: string, rows: readonly RowInTable[], position: Position): Promise<Values> =>
    inParts(rows, async (part) => {
      const found = await entries(reader, projectId, part, position, {
        column: 'row_digest',
        keys: part.map(({ tableDigest, rowDigest }) => `${tableDigest}/${rowDigest}`),
      })
      return contents(reader, projectId, found, position)
    })

/** The same for rows by their index in a table. */
export const rowValuesByIndex =
  (reader: ClickHouseReader) =>
  (projectId: string, rows: readonly RowAtIndex[], position: Position): Promise<Values> =>
    inParts(rows, async (part) => {
      const found = await entries(reader, projectId, part, position, {
        column: 'toString(first_index + n - 1)',
        keys: part.map(({ tableDigest, index }) => `${tableDigest}/${index}`),
      })
      return contents(reader, projectId, found, position)
    })

const inParts = async <R>(
  rows: readonly R[],
  valuesOf: (part: readonly R[]) => Promise<Values>,
): Promise<Values> => {
  const values: (string | undefined)[] = []
  for (let at = 0; at < rows.length; at += AT_ONCE)
    for (const value of await valuesOf(rows.slice(at, at + AT_ONCE))) values.push(value)
  return values
}

interface Wanted {
  /** What names a row within its table, in SQL. */
  readonly column: string
  /** `<table>/<name>`, one a row asked for. */
  readonly keys: readonly string[]
}

/** The digest of each row asked for that a table has. */
const entries = async (
  reader: ClickHouseReader,
  projectId: string,
  rows: readonly { readonly tableDigest: string }[],
  position: Position,
  { column, keys }: Wanted,
): Promise<readonly (string | undefined)[]> => {
  const parameters: SqlParameters = {
    project: projectId,
    tables: [...new Set(rows.map(({ tableDigest }) => tableDigest))],
    keys: [...new Set(keys)],
    position,
  }
  const found = await reader.query<{ key: string; row_digest: string }>(
    `SELECT DISTINCT concat(table_digest, '/', ${column}) AS key, row_digest
    FROM table_entries
    ARRAY JOIN row_digests AS row_digest, arrayEnumerate(row_digests) AS n
    WHERE project_id = {project:String} AND table_digest IN {tables:Array(String)}
      AND position <= {position:UInt64} AND key IN {keys:Array(String)}`,
    parameters,
  )
  const digests = new Map(found.map(({ key, row_digest }) => [key, row_digest]))
  return keys.map((key) => digests.get(key))
}

const contents = async (
  reader: ClickHouseReader,
  projectId: string,
  digests: readonly (string | undefined)[],
  position: Position,
): Promise<Values> => {
  const wanted = digests.filter((digest) => digest !== undefined)
  const found = await rowsByDigest(reader)(projectId, wanted, position)
  return digests.map((digest) => (digest === undefined ? undefined : found.get(digest)))
}

import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { nativeBlocks, type Numbers, type Strings } from '../usage/native.js'
import { textAt } from './row-contents.js'
import { sortingOf, type SortBy } from './sorting.js'

export interface TableQuestion {
  readonly projectId: string
  readonly tableDigest: string
  /** Only rows of these digests; null for all. */
  readonly rowDigests: readonly string[] | null
  readonly sortBy: readonly SortBy[]
  readonly limit: number | null
  readonly offset: number
}

/** The rows that an answer has, in its order: some bytes a row. */
export interface TableOrder {
  readonly size: number
  readonly indexOf: (at: number) => number
  readonly digestOf: (at: number) => string
  /** Of the row's JSON. */
  readonly bytesOf: (at: number) => number
}

/** The most that a table can have, and the most that can be passed over. */
const ALL = 4_294_967_295

/** Which rows of a table are asked for, in which order, without what they hold. */
export const tableOrder =
  (reader: ClickHouseReader) =>
  async ({
    projectId,
    tableDigest,
    rowDigests,
    sortBy,
    limit,
    offset,
  }: TableQuestion): Promise<TableOrder> => {
    const { columns, order, parameters } = sortingOf(sortBy)
    const isWhole = rowDigests === null && sortBy.length === 0
    const entries = `
      SELECT first_index + n - 1 AS index, row_digest
      FROM table_entries FINAL
      ARRAY JOIN row_digests AS row_digest, arrayEnumerate(row_digests) AS n
      WHERE project_id = {project:String} AND table_digest = {table:String}
      ${isWhole ? 'AND first_index < {end:UInt64} AND first_index + length(row_digests) > {offset:UInt64}' : ''}
      ${isWhole ? 'AND index >= {offset:UInt64} AND index < {end:UInt64}' : ''}
      ${rowDigests === null ? '' : 'AND row_digest IN {rows:Array(String)}'}`
    const chunks = reader.stream(
      `SELECT toUInt32(entries.index), entries.row_digest, toUInt32(contents.bytes)
      FROM (${entries}) AS entries
      ANY LEFT JOIN (
        SELECT digest, bytes ${columns} FROM table_rows
        WHERE project_id = {project:String} AND digest IN (SELECT row_digest FROM (${entries}))
      ) AS contents ON contents.digest = entries.row_digest
      ORDER BY ${order} entries.index
      ${isWhole ? '' : 'LIMIT {limit:UInt64} OFFSET {offset:UInt64}'}`,
      {
        ...parameters,
        project: projectId,
        table: tableDigest,
        offset: Math.min(offset, ALL),
        limit: Math.min(limit ?? ALL, ALL),
        end: Math.min(offset, ALL) + Math.min(limit ?? ALL, ALL),
        ...(rowDigests === null ? {} : { rows: rowDigests }),
      },
    )
    return collected(chunks)
  }

interface Block {
  /** Rows in the blocks before. */
  readonly before: number
  readonly index: Numbers['values']
  readonly digest: Strings
  readonly bytes: Numbers['values']
}

const collected = async (chunks: AsyncIterable<Uint8Array>): Promise<TableOrder> => {
  const blocks: Block[] = []
  let size = 0
  for await (const { rows, columns } of nativeBlocks(chunks)) {
    if (rows === 0) continue
    const [index, digest, bytes] = columns as [Numbers, Strings, Numbers]
    blocks.push({ before: size, index: index.values, digest, bytes: bytes.values })
    size += rows
  }
  let last = 0
  /** Rows are asked for one after the other. */
  const blockOf = (at: number): Block => {
    if (at < blocks[last]!.before) last = 0
    while (last + 1 < blocks.length && blocks[last + 1]!.before <= at) last += 1
    return blocks[last]!
  }
  return {
    size,
    indexOf: (at) => blockOf(at).index[at - blockOf(at).before]!,
    digestOf: (at) => textAt(blockOf(at).digest, at - blockOf(at).before),
    bytesOf: (at) => blockOf(at).bytes[at - blockOf(at).before]!,
  }
}

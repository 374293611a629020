import { isDigest, tableStream, type TablePublished } from '../../domain/tables/table.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { BlobMissing } from '../../kernel/ports/blobs.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { knownRows } from '../../projections/tables/queries.js'
import { Failure } from '../failure.js'

const noSuchTable = (): Failure =>
  new Failure('not-found', 'Table not found: the project has no table with this digest.')

/**
 * Reads the row digests of a table from its stream.
 *
 * @throws Failure if the table does not exist or is incomplete
 */
export const rowDigestsOf =
  ({ eventStore, blobs }: Pick<Ports, 'eventStore' | 'blobs'>) =>
  async (projectId: string, digest: string): Promise<readonly string[]> => {
    if (!isDigest(digest)) throw noSuchTable()
    const last = eventStore.readStream(tableStream(projectId, digest), { backwards: true, limit: 1 })
    for await (const { type, data } of last) {
      if (type !== 'TablePublished') continue
      const { row_digests, spilled } = data as TablePublished
      if (row_digests !== null) return row_digests
      const stored = spilled['row_digests']?.digest ?? ''
      const content = await blobs.get(stored)
      if (content === undefined) throw new BlobMissing(stored)
      return JSON.parse(Buffer.from(content).toString('utf8')) as readonly string[]
    }
    throw noSuchTable()
  }

/** Rows per query, because the engine is slow with longer lists of values. */
const AT_ONCE = 8192

/** Refuses rows that are missing from the project, naming the first. */
export const requireRows = async (
  reader: ClickHouseReader,
  projectId: string,
  rowDigests: readonly string[],
  position: Position,
): Promise<void> => {
  const distinct = [...new Set(rowDigests)]
  for (let at = 0; at < distinct.length; at += AT_ONCE) {
    const part = distinct.slice(at, at + AT_ONCE)
    const stored = await knownRows(reader)(projectId, part.filter(isDigest), position)
    const missing = part.find((digest) => !stored.has(digest))
    if (missing !== undefined) throw noSuchRow(missing)
  }
}

const MAX_QUOTED = 64

const noSuchRow = (digest: string): Failure => {
  const quoted = digest.length <= MAX_QUOTED ? digest : `${digest.slice(0, MAX_QUOTED).toWellFormed()}…`
  return new Failure('not-found', `Row not found: the project has no row with digest ${quoted}.`)
}

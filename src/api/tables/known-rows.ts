import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { isDigest } from '../../domain/table/events.js'
import { knownRows } from '../../projections/tables/queries.js'
import { Failure } from '../failure.js'

/** Rows per query, because the engine is slow with longer lists of values. */
const AT_ONCE = 8192

/** Refuses rows that are missing from the project, naming the first. */
export const requireKnown = async (
  reader: ClickHouseReader,
  projectId: string,
  rowDigests: readonly string[],
  position: Position,
): Promise<void> => {
  const distinct = [...new Set(rowDigests)]
  for (let at = 0; at < distinct.length; at += AT_ONCE) {
    const part = distinct.slice(at, at + AT_ONCE)
    const known = await knownRows(reader)(projectId, part.filter(isDigest), position)
    const missing = part.find((digest) => !known.has(digest))
    if (missing !== undefined) throw noSuchRow(missing)
  }
}

const MAX_QUOTED = 64

const noSuchRow = (digest: string): Failure => {
  const quoted = digest.length <= MAX_QUOTED ? digest : `${digest.slice(0, MAX_QUOTED).toWellFormed()}…`
  return new Failure('not-found', `Row not found: the project has no row with digest ${quoted}.`)
}

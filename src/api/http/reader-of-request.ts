import { setMaxListeners } from 'node:events'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { OnDisconnect } from '../route.js'

/** A reader that counts in the team's share and cancels its queries when the client disconnects. */
export const readerOfRequest = (
  reader: ClickHouseReader,
  onDisconnect: OnDisconnect,
  team: string,
): ClickHouseReader => {
  const leaving = new AbortController()
  const { signal } = leaving
  setMaxListeners(0, signal)
  onDisconnect(() => leaving.abort())
  return {
    knownParts: reader.knownParts,
    query: (sql, parameters) => reader.query(sql, parameters, { signal, team }),
    stream: (sql, parameters, options) => reader.stream(sql, parameters, { ...options, signal, team }),
  }
}

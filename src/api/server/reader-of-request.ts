import { setMaxListeners } from 'node:events'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { OnDisconnect } from '../../application/on-disconnect.js'

/** A reader that counts in the team's share and cancels its queries when the client disconnects. */
export const readerOfRequest = (
  reader: ClickHouseReader,
  onDisconnect: OnDisconnect,
  team: string,
): ClickHouseReader => {
  let signal: AbortSignal | undefined
  const ofRequest = () => ({ signal: (signal ??= abortedOn(onDisconnect)), team })
  return {
    knownParts: reader.knownParts,
    query: (sql, parameters) => reader.query(sql, parameters, ofRequest()),
    stream: (sql, parameters, options) => reader.stream(sql, parameters, { ...options, ...ofRequest() }),
  }
}

const abortedOn = (onDisconnect: OnDisconnect): AbortSignal => {
  const leaving = new AbortController()
  setMaxListeners(0, leaving.signal)
  onDisconnect(() => leaving.abort())
  return leaving.signal
}

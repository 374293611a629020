import { setMaxListeners } from 'node:events'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { OnGone } from '../route.js'

/** A reader whose reads are cancelled when the client of the request leaves. */
export const readerOfRequest = (reader: ClickHouseReader, onGone: OnGone): ClickHouseReader => {
  const leaving = new AbortController()
  const { signal } = leaving
  setMaxListeners(0, signal)
  onGone(() => leaving.abort())
  return {
    query: (sql, parameters) => reader.query(sql, parameters, { signal }),
    stream: (sql, parameters) => reader.stream(sql, parameters, { signal }),
  }
}

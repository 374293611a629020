import { ClickHouseUnavailable, type ClickHouseReader } from '../../domain/ports/clickhouse.js'

/**
 * Reads whose connection was closed under them are asked once more: a server may let go of a kept connection in the
 * moment in which it is used. Of a stream, only what nothing was answered of.
 */
export const repeatingReads = (reader: ClickHouseReader): ClickHouseReader => ({
  query: async <Row>(...asked: Parameters<ClickHouseReader['query']>) => {
    try {
      return await reader.query<Row>(...asked)
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      return reader.query<Row>(...asked)
    }
  },

  async *stream(...asked) {
    let begun = false
    try {
      for await (const chunk of reader.stream(...asked)) {
        begun = true
        yield chunk
      }
      return
    } catch (error) {
      if (begun || !isConnectionLost(error)) throw error
    }
    yield* reader.stream(...asked)
  },
})

const LOST = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED'])

const isConnectionLost = (error: unknown): boolean =>
  error instanceof ClickHouseUnavailable &&
  error.why === 'away' &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  LOST.has(String(error.cause.code))

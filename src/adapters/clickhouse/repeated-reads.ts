import { ClickHouseUnavailable, type ClickHouseReads } from '../../kernel/ports/clickhouse.js'

/**
 * Retries a read once if its connection was lost: a server may close an idle connection at the moment it is reused, and
 * another host may respond. A stream is retried only before its first chunk.
 */
export const repeatingReads = (reader: ClickHouseReads): ClickHouseReads => ({
  query: async <Row>(...asked: Parameters<ClickHouseReads['query']>) => {
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

const LOST = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ECONNREFUSED'])

const isConnectionLost = (error: unknown): boolean =>
  error instanceof ClickHouseUnavailable &&
  error.why === 'away' &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  LOST.has(String(error.cause.code))

import { ClickHouseUnavailable, type ClickHouseReader } from '../domain/ports/clickhouse.js'
import type { Log } from '../domain/ports/log.js'
import { failingNow } from './failing-now.js'

export interface WatchedReads {
  readonly reader: ClickHouseReader
  /** Why the last read failed, where the engine is to blame; undefined once one succeeds. */
  readonly failing: () => string | undefined
}

/** The same reader, of which is known, and logged as it changes, whether the engine answers. */
export const watchedReads = (reader: ClickHouseReader, log: Pick<Log, 'error' | 'info'>): WatchedReads => {
  const now = failingNow(log, { failed: 'reads.failed', resumed: 'reads.resumed' })
  const failed = (error: unknown) => {
    if (error instanceof ClickHouseUnavailable) now.failed(error.message, { reason: error.message })
  }
  return {
    reader: {
      query: <Row>(...asked: Parameters<ClickHouseReader['query']>) => {
        const answered = reader.query<Row>(...asked)
        answered.then(now.succeeded, failed)
        return answered
      },
      async *stream(...asked) {
        try {
          yield* reader.stream(...asked)
        } catch (error) {
          failed(error)
          throw error
        }
        now.succeeded()
      },
    },
    failing: now.reason,
  }
}

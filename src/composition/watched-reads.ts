import { ClickHouseUnavailable, type ClickHouseReader } from '../domain/ports/clickhouse.js'
import type { Log } from '../domain/ports/log.js'

export interface WatchedReads {
  readonly reader: ClickHouseReader
  /** Why the last read failed, where the engine is to blame; undefined once one succeeds. */
  readonly failing: () => string | undefined
}

/** The same reader, of which is known, and logged as it changes, whether the engine answers. */
export const watchedReads = (reader: ClickHouseReader, log: Pick<Log, 'error' | 'info'>): WatchedReads => {
  let failing: string | undefined
  const failed = (error: unknown) => {
    if (!(error instanceof ClickHouseUnavailable)) return
    if (failing === undefined) log.error('reads.failed', { reason: error.message })
    failing = error.message
  }
  const succeeded = () => {
    if (failing !== undefined) log.info('reads.resumed', {})
    failing = undefined
  }
  return {
    reader: {
      query: <Row>(...asked: Parameters<ClickHouseReader['query']>) => {
        const answered = reader.query<Row>(...asked)
        answered.then(succeeded, failed)
        return answered
      },
      async *stream(...asked) {
        try {
          yield* reader.stream(...asked)
        } catch (error) {
          failed(error)
          throw error
        }
        succeeded()
      },
    },
    failing: () => failing,
  }
}

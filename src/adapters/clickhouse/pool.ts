import { TooManyReads, type ClickHouseReader, type SqlParameters } from '../../domain/ports/clickhouse.js'

const MAX_WAITING = 256

/**
 * Readers that each run one statement at a time, shared by all queries: the one that is free takes the next; a
 * stream holds its reader until it ends.
 */
export const poolOf = (readers: readonly ClickHouseReader[]): ClickHouseReader => {
  const free = [...readers]
  const waiting: ((reader: ClickHouseReader) => void)[] = []

  const acquire = (): Promise<ClickHouseReader> => {
    const reader = free.pop()
    if (reader !== undefined) return Promise.resolve(reader)
    if (waiting.length >= MAX_WAITING) return Promise.reject(new TooManyReads('too many reads are waiting'))
    return new Promise((resolve) => waiting.push(resolve))
  }

  const release = (reader: ClickHouseReader): void => {
    const next = waiting.shift()
    if (next === undefined) free.push(reader)
    else next(reader)
  }

  return {
    async query<Row>(sql: string, parameters?: SqlParameters) {
      const reader = await acquire()
      try {
        return await reader.query<Row>(sql, parameters)
      } finally {
        release(reader)
      }
    },

    async *stream(sql, parameters) {
      const reader = await acquire()
      try {
        yield* reader.stream(sql, parameters)
      } finally {
        release(reader)
      }
    },
  }
}

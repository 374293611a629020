import { ReadAbandoned, TooManyReads, type ClickHouseReader } from '../../domain/ports/clickhouse.js'

const MAX_WAITING = 256

/**
 * Readers that each run one statement at a time, shared by all queries: the one that is free takes the next; a
 * stream holds its reader until it ends.
 */
export const poolOf = (readers: readonly ClickHouseReader[]): ClickHouseReader => {
  const free = [...readers]
  const waiting: ((reader: ClickHouseReader) => void)[] = []

  const acquire = (signal?: AbortSignal): Promise<ClickHouseReader> => {
    if (signal?.aborted === true) return Promise.reject(new ReadAbandoned())
    const reader = free.pop()
    if (reader !== undefined) return Promise.resolve(reader)
    if (waiting.length >= MAX_WAITING) return Promise.reject(new TooManyReads('too many reads are waiting'))
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.splice(waiting.indexOf(take), 1)
        reject(new ReadAbandoned())
      }
      const take = (given: ClickHouseReader) => {
        signal?.removeEventListener('abort', leave)
        resolve(given)
      }
      waiting.push(take)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  const release = (reader: ClickHouseReader): void => {
    const next = waiting.shift()
    if (next === undefined) free.push(reader)
    else next(reader)
  }

  return {
    async query<Row>(...asked: Parameters<ClickHouseReader['query']>) {
      const reader = await acquire(asked[2]?.signal)
      try {
        return await reader.query<Row>(...asked)
      } finally {
        release(reader)
      }
    },

    async *stream(...asked) {
      const reader = await acquire(asked[2]?.signal)
      try {
        yield* reader.stream(...asked)
      } finally {
        release(reader)
      }
    },
  }
}

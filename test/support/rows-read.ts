import { text } from 'node:stream/consumers'
import type { EmbeddedConnection } from '../../src/adapters/clickhouse/embedded-connection.js'
import { withLiterals } from '../../src/adapters/clickhouse/client.js'
import type { ClickHouseReader, SqlParameters } from '../../src/kernel/ports/clickhouse.js'

/** How many rows the engine reads for all that a task asks of a reader; each statement is run twice. */
export const rowsReadBy = async (
  counting: EmbeddedConnection,
  reader: ClickHouseReader,
  task: (reader: ClickHouseReader) => Promise<unknown>,
): Promise<number> => {
  let total = 0
  const count = async (sql: string, parameters: SqlParameters = {}) => {
    const { stream } = await counting.query({ query: `${withLiterals(sql, parameters)} FORMAT JSON` })
    const { statistics } = JSON.parse(await text(stream)) as { statistics: { rows_read: number } }
    total += statistics.rows_read
  }
  await task({
    knownParts: reader.knownParts,
    query: async (sql, parameters) => {
      await count(sql, parameters)
      return reader.query(sql, parameters)
    },
    stream: (sql, parameters) => reader.stream(sql, parameters),
  })
  return total
}

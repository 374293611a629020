import { ClickHouseUnavailable } from '../../kernel/ports/clickhouse.js'

/** The kind of an error. Its message may quote rows, so it is not logged. */
export const errorName = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? `${error.name} ${String(error.code)}` : error.name
}

/** Why inserting fails, for `/health`: only the port's own message is known to quote no data. */
export const reasonOf = (error: unknown): string =>
  error instanceof ClickHouseUnavailable ? error.message : 'inserting rows failed; see the logs'

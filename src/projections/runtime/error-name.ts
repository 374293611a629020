import { ClickHouseUnavailable } from '../../domain/ports/clickhouse.js'

/** The kind of an error; its message may quote rows. */
export const errorName = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? `${error.name} ${String(error.code)}` : error.name
}

/** What is said of an error to the outside: only the port's own message is known to quote nothing. */
export const reasonOf = (error: unknown): string =>
  error instanceof ClickHouseUnavailable ? error.message : 'inserting rows failed; see the logs'

import { ClickHouseUnavailable } from '../kernel/ports/clickhouse.js'

/** Undefined if the server refuses a read that the service can do without, such as that of a system table. */
export const unlessRefused = async <A>(read: Promise<A>): Promise<A | undefined> => {
  try {
    return await read
  } catch (error) {
    if (error instanceof ClickHouseUnavailable && error.why === 'refusing') return undefined
    throw error
  }
}

import { randomUUID } from 'node:crypto'
import { ClickHouseUnavailable, type Rows } from '../../domain/ports/clickhouse.js'

type Insert = (sending: { readonly query_id: string }) => Promise<void>

/**
 * Sends an insert whose outcome stayed unknown under the same id when it is repeated: with `replace_running_query` the
 * server ends the first before it begins the second. Otherwise the first, received whole and held up, could end after
 * newer rows and put its own in their place.
 */
export const sameIdWhenRepeated = () => {
  const unknown = new Map<string, string>()
  return async ({ table }: Rows, insert: Insert): Promise<void> => {
    const query_id = unknown.get(table) ?? randomUUID()
    try {
      await insert({ query_id })
      unknown.delete(table)
    } catch (error) {
      if (error instanceof ClickHouseUnavailable) unknown.set(table, query_id)
      else unknown.delete(table)
      throw error
    }
  }
}

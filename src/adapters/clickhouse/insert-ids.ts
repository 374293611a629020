import { randomUUID } from 'node:crypto'
import { ClickHouseUnavailable, type Rows } from '../../domain/ports/clickhouse.js'

type Insert = (sending: { readonly query_id: string }) => Promise<void>

/**
 * Sends an insert whose outcome stayed unknown under the same id when it is repeated: with `replace_running_query` the
 * server ends the first before it begins the second. Otherwise a server that is slow, not away, would get the same work
 * again and again beside the first.
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

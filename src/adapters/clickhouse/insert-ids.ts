import { randomUUID } from 'node:crypto'
import { ClickHouseUnavailable, type Rows } from '../../kernel/ports/clickhouse.js'

type Insert = (sending: { readonly query_id: string }) => Promise<void>

/**
 * Repeats an insert of unknown outcome under the same query id: with `replace_running_query` the server cancels the first
 * attempt, so that retries do not add load to a slow server.
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

import type { ClickHouseSettings } from '@clickhouse/client'
import { jsonFormat, readLimits } from './settings.js'

/**
 * The server responds when the statement has ended. Otherwise a later error would be the last bytes of a response with
 * status 200.
 */
const wholeAnswers: ClickHouseSettings = { wait_end_of_query: 1 }

/**
 * A server cancels only statements with `readonly` when their client closes the connection; '2' still allows settings.
 * With `select_sequential_consistency` a replica that lags returns an error instead of fewer rows.
 */
export const readSettings = (isCluster: boolean): ClickHouseSettings => ({
  ...jsonFormat,
  ...readLimits,
  ...wholeAnswers,
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
  http_zlib_compression_level: '1',
  ...(isCluster ? { select_sequential_consistency: '1' } : {}),
})

/**
 * An insert is acknowledged when its rows are in the table, because the checkpoint counts on them. Repeated blocks are
 * inserted again, since the table may have been emptied in between. On a cluster a majority of the replicas has the rows,
 * and inserts run one after the other, as sequential reads require.
 */
export const writeSettings = (isCluster: boolean): ClickHouseSettings => ({
  ...jsonFormat,
  ...wholeAnswers,
  async_insert: 0,
  insert_deduplicate: 0,
  replace_running_query: 1,
  ...(isCluster
    ? {
        insert_quorum: 'auto',
        insert_quorum_parallel: 0,
        insert_quorum_timeout: 60_000,
        select_sequential_consistency: '1',
      }
    : {}),
})

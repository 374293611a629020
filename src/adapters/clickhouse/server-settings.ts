import type { ClickHouseSettings } from '@clickhouse/client'
import { jsonFormat, readLimits } from './settings.js'

/**
 * The server begins its answer when the statement is over: one that fails after its first rows were sent would end like
 * a whole answer, with the error as its last bytes.
 */
const wholeAnswers: ClickHouseSettings = { wait_end_of_query: 1 }

/**
 * A server cancels only statements with `readonly` when their client closes the connection; '2' still allows settings.
 * `select_sequential_consistency` has a replica that lags answer with an
 * error rather than with less than was written; it says nothing about tables that are not replicated.
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
 * An insert is answered when its rows are in the table, never when they merely wait for company: the checkpoint speaks of
 * them. The same block again is inserted again, which changes nothing where it is there, and matters where the table was
 * emptied. On a cluster a majority of the replicas has the rows, one insert after the other, which is what sequential
 * reads need.
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

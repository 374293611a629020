import { ClickHouseLogLevel, type ClickHouseSettings } from '@clickhouse/client'

/** The client's log lines quote rows and statements. Errors are thrown to the caller anyway. */
export const quiet = { level: ClickHouseLogLevel.OFF }

/**
 * Limits of every read: seconds, bytes of memory, and the size of the statement. The values of a filter are part of the
 * statement, where a byte of the request takes up to four.
 */
export const readLimits = {
  max_execution_time: 30,
  max_memory_usage: '4000000000',
  max_query_size: '300000000',
  max_ast_elements: '200000',
} as const

/** Integers are read as numbers. An object or a list that is inserted into a text column is stored as its JSON. */
export const jsonFormat = {
  output_format_json_quote_64bit_integers: 0,
  input_format_json_read_objects_as_strings: 1,
  input_format_json_read_arrays_as_strings: 1,
} as const

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

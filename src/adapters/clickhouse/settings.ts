import { ClickHouseLogLevel } from '@clickhouse/client'

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

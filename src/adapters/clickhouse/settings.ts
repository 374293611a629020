import { ClickHouseLogLevel } from '@clickhouse/client'

/** The client's own log lines would quote rows and statements; errors reach whoever asked in any case. */
export const quiet = { level: ClickHouseLogLevel.OFF }

/**
 * Bounds of every read: seconds, bytes of memory, and bytes of the statement, where the values of a filter stand: each
 * byte of the largest body may take four there; and what it is made of, four times what the engine allows by itself.
 */
export const readLimits = {
  max_execution_time: 30,
  max_memory_usage: '4000000000',
  max_query_size: '150000000',
  max_ast_elements: '200000',
} as const

/** Integers as numbers on the way out; on the way in, an object or a list for a text column is its text. */
export const jsonFormat = {
  output_format_json_quote_64bit_integers: 0,
  input_format_json_read_objects_as_strings: 1,
  input_format_json_read_arrays_as_strings: 1,
} as const

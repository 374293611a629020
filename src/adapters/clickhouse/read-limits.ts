/**
 * Bounds of every read: seconds, bytes of memory, and bytes of the statement, where the values of a filter stand: each
 * byte of the largest body may take four there.
 */
export const readLimits = {
  max_execution_time: 30,
  max_memory_usage: '4000000000',
  max_query_size: '150000000',
} as const

/** Bounds of every read: seconds, and bytes of memory. */
export const readLimits = {
  max_execution_time: 30,
  max_memory_usage: '4000000000',
} as const

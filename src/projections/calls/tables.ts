import { mayBeWide } from '../expression/readable-json.js'
import { computed, instant, keyword, position, table, text } from '../table.js'
import { CALL_COLUMNS } from './columns.js'

const { started_position, ended_position, deleted_position, ...ofEvents } = CALL_COLUMNS

/**
 * Calls in the order of their starts. Start, end, rename and deletion each insert a row with the same key, and the engine
 * keeps the last value of each column that is not null. Granules are small, because most reads are of few calls.
 */
export const CALLS = table(
  'calls',
  {
    ...ofEvents,
    // Bytes of the payload's JSON.
    start_bytes: computed(
      'Nullable(UInt64)',
      'length(inputs) + ifNull(length(attributes), 0) + ifNull(length(otel_dump), 0)',
    ),
    end_bytes: computed(
      'Nullable(UInt64)',
      'length(output) + ifNull(length(summary), 0) + ifNull(length(exception), 0)',
    ),
    // Whether the payload may hold integers of more than 64 bits, which the faster JSON parser refuses.
    start_is_wide: computed(
      'Nullable(UInt8)\n       ',
      `${mayBeWide('inputs')} OR ${mayBeWide('attributes')}\n            OR ifNull(${mayBeWide('otel_dump')}, 0)`,
    ),
    end_is_wide: computed('Nullable(UInt8)\n       ', `${mayBeWide('output')} OR ${mayBeWide('summary')}`),
    started_position,
    ended_position,
    deleted_position,
  },
  ['project_id', 'started_at', 'id'],
  {
    engine: 'CoalescingMergeTree',
    indexes: { by_parent: 'parent_id TYPE bloom_filter', by_deletion: 'deleted_position TYPE minmax' },
    granularity: 2048,
  },
)

/** The key of a call in `calls`, by its id. */
export const CALL_INDEX = table(
  'call_index',
  { project_id: keyword, id: text, trace_id: text, started_at: instant, position },
  ['project_id', 'id'],
  { granularity: 256 },
)

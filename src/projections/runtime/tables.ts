import { SQL_TIME } from '../clickhouse-values.js'
import { instant, position, table, text, uint64 } from '../table.js'

/**
 * How far each projector has come; written after the rows. `main` also names the last event up to its position: another log has
 * another event there, or none. `tables` is what they consisted of (`TableNote` of `main`, `Blocks` of `usage_totals`).
 */
export const CHECKPOINTS = table(
  'checkpoints',
  {
    projector: text,
    position,
    event_id: text,
    stream: text,
    revision: position,
    event_position: position,
    tables: text,
  },
  ['projector'],
  { engine: 'ReplacingMergeTree(position)' },
)

/** The version of the tables, and a digest of their statements. */
export const SCHEMA_VERSIONS = table(
  'schema_version',
  {
    version: uint64,
    digest: text,
    created_at: { type: `${SQL_TIME} DEFAULT now64(6)`, isComputed: true as const },
  },
  [],
  { engine: 'ReplacingMergeTree(created_at)' },
)

/** Events whose rows could not be made or were refused, for an operator. */
export const QUARANTINE = table(
  'quarantine',
  { position, event_id: text, type: text, stream: text, reason: text },
  ['position'],
)

const CODEC = 'CODEC(DoubleDelta, ZSTD)'

/**
 * When events were recorded, the last of each millisecond: "as of a time" is the last position that was recorded no later. Clocks
 * may go back, so the order of times need not be that of positions. Rows are inserted with a checkpoint.
 */
export const EVENT_TIMES = table(
  'event_times',
  {
    position: { ...position, type: `UInt64 ${CODEC}` },
    recorded_at: { ...instant, type: `DateTime64(3, 'UTC') ${CODEC}` },
  },
  ['position'],
  { indexes: { by_time: 'recorded_at TYPE minmax' } },
)

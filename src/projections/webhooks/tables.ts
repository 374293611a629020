import { instant, int64, keyword, nullable, number, position, table, text } from '../table.js'

/** One row a scheduled delivery; its changes are rows of {@link CHANGES}. A suppressed automation has no webhook. */
export const DELIVERIES = table(
  'deliveries',
  {
    team: text,
    automation_id: text,
    position,
    delivery_id: text,
    automation_revision: nullable(int64),
    webhook_id: nullable(text),
    event_type: nullable(text),
    source_id: text,
    source_type: text,
    source_position: text,
    source_stream: text,
    depth: int64,
    scheduled_at: instant,
    suppressed: nullable(text),
  },
  ['team', 'automation_id', 'position'],
  { indexes: { by_delivery: 'delivery_id TYPE bloom_filter' } },
)

/** `attempt` is 0 for a change that belongs to no attempt. `at` is when the log recorded the change. */
export const CHANGES = table(
  'delivery_changes',
  {
    team: text,
    delivery_id: text,
    position,
    type: keyword,
    state: keyword,
    attempt: int64,
    status: nullable(int64),
    error: nullable(text),
    reason: nullable(text),
    next_at: nullable(instant),
    duration_ms: nullable(number),
    at: nullable(instant),
  },
  ['team', 'delivery_id', 'position'],
)

/** The columns of `deliveries` in the order of its rows' values. */
export const DELIVERY_COLUMNS = [
  'team',
  'automation_id',
  'position',
  'delivery_id',
  'automation_revision',
  'webhook_id',
  'event_type',
  'source_id',
  'source_type',
  'source_position',
  'depth',
  'scheduled_at',
  'suppressed',
] as const

/** The columns of `delivery_changes` in the order of its rows' values. */
export const CHANGE_COLUMNS = [
  'team',
  'delivery_id',
  'position',
  'type',
  'state',
  'attempt',
  'status',
  'error',
  'reason',
  'next_at',
  'duration_ms',
  'at',
] as const

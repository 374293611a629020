/** What a client reads of a piece of feedback, in the order in which it reads it. */
export const TEXT_COLUMNS = [
  'id',
  'project_id',
  'weave_ref',
  'wb_user_id',
  'creator',
  'feedback_type',
  'annotation_ref',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'queue_id',
  'span_agent_name',
  'span_agent_version',
  'span_status_code',
  'span_conversation_id',
  'span_trace_id',
  'scorer_trace_id',
] as const

export const JSON_COLUMNS = [
  'payload',
  'scorer_tags',
  'scorer_tag_reasons',
  'scorer_tag_confidences',
  'scorer_ratings',
  'scorer_rating_reasons',
  'scorer_rating_confidences',
] as const

/** The columns of `feedback` in the order of its rows' values. */
export const FEEDBACK_COLUMNS = [
  ...TEXT_COLUMNS,
  ...JSON_COLUMNS,
  'created_at',
  'given_position',
  'purged_position',
] as const

export type FeedbackColumn = (typeof TEXT_COLUMNS)[number] | (typeof JSON_COLUMNS)[number] | 'created_at'

import { computed, erasable, instant, json, nullable, position, table, text } from '../table.js'

/**
 * One row a piece of feedback. What gives it and what purges it each set their own columns; the engine keeps the last value of each
 * column that is not null.
 */
export const FEEDBACK = table(
  'feedback',
  {
    project_id: text,
    id: text,
    weave_ref: nullable(text),
    feedback_type: nullable(text),
    payload: erasable(nullable(json), "'{}'"),
    creator: erasable(nullable(text)),
    created_at: nullable(instant),
    annotation_ref: nullable(text),
    runnable_ref: nullable(text),
    call_ref: nullable(text),
    trigger_ref: nullable(text),
    queue_id: nullable(text),
    span_agent_name: nullable(text),
    span_agent_version: nullable(text),
    span_status_code: nullable(text),
    span_conversation_id: nullable(text),
    span_trace_id: nullable(text),
    scorer_trace_id: nullable(text),
    scorer_tags: erasable(nullable(json)),
    scorer_tag_reasons: erasable(nullable(json)),
    scorer_tag_confidences: nullable(json),
    scorer_ratings: nullable(json),
    scorer_rating_reasons: erasable(nullable(json)),
    scorer_rating_confidences: nullable(json),
    wb_user_id: nullable(text),
    /** Of the payload columns. */
    bytes: computed(
      'Nullable(UInt64)',
      `length(payload) + ifNull(length(scorer_tags), 0)
        + ifNull(length(scorer_tag_reasons), 0) + ifNull(length(scorer_rating_reasons), 0)`,
    ),
    given_position: nullable(position),
    purged_position: nullable(position),
  },
  ['project_id', 'id'],
  { engine: 'CoalescingMergeTree', indexes: { by_ref: 'weave_ref TYPE bloom_filter' } },
)

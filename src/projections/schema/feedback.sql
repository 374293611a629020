-- One row a piece of feedback. What gives it and what purges it each set their own columns; the engine keeps the last
-- value of each column that is not null. Payload columns are JSON.
CREATE TABLE feedback
(
    project_id String,
    id String,
    weave_ref Nullable(String),
    feedback_type Nullable(String),
    payload Nullable(String),
    creator Nullable(String),
    created_at Nullable(DateTime64(6, 'UTC')),
    annotation_ref Nullable(String),
    runnable_ref Nullable(String),
    call_ref Nullable(String),
    trigger_ref Nullable(String),
    queue_id Nullable(String),
    span_agent_name Nullable(String),
    span_agent_version Nullable(String),
    span_status_code Nullable(String),
    span_conversation_id Nullable(String),
    span_trace_id Nullable(String),
    scorer_trace_id Nullable(String),
    scorer_tags Nullable(String),
    scorer_tag_reasons Nullable(String),
    scorer_tag_confidences Nullable(String),
    scorer_ratings Nullable(String),
    scorer_rating_reasons Nullable(String),
    scorer_rating_confidences Nullable(String),
    wb_user_id Nullable(String),
    bytes Nullable(UInt64) MATERIALIZED length(payload) + ifNull(length(scorer_tags), 0)
        + ifNull(length(scorer_tag_reasons), 0) + ifNull(length(scorer_rating_reasons), 0),
    given_position Nullable(UInt64),
    purged_position Nullable(UInt64),
    INDEX by_ref weave_ref TYPE bloom_filter GRANULARITY 1
)
ENGINE = CoalescingMergeTree
ORDER BY (project_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

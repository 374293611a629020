-- The calls in queues. What reviewers did with them is in `annotation_progress`.
CREATE TABLE annotation_queue_items
(
    project_id String,
    queue_id String,
    id String,
    position UInt64,
    call_id String,
    call_op_name String,
    call_trace_id String,
    call_started_at DateTime64(6, 'UTC'),
    display_fields Array(String),
    added_by String,
    created_at DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, queue_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

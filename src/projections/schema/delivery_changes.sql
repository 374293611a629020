-- `attempt` is 0 for a change that belongs to no attempt. `at` is when the log recorded the change.
CREATE TABLE delivery_changes
(
    team String,
    delivery_id String,
    position UInt64,
    type LowCardinality(String),
    state LowCardinality(String),
    attempt Int64,
    status Nullable(Int64),
    error Nullable(String),
    reason Nullable(String),
    next_at Nullable(DateTime64(6, 'UTC')),
    duration_ms Nullable(Float64),
    at Nullable(DateTime64(6, 'UTC'))
)
ENGINE = ReplacingMergeTree
ORDER BY (team, delivery_id, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

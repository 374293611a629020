-- The key of a call in `calls`, by its id.
CREATE TABLE call_index
(
    project_id LowCardinality(String),
    id String,
    trace_id String,
    started_at DateTime64(6, 'UTC'),
    position UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, id)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1;

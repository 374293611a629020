-- Thin rows for usage: structure, times and figures, no payload. A row is a fact at a log position: replaying the log
-- writes the same rows again, and "as of N" is the facts at positions up to N. Position 0 means: not in this row. New
-- rows are in few granules until their parts are merged with large ones, so the index finds the traces that changed last.
CREATE TABLE usage_facts
(
    project_id LowCardinality(String),
    trace_id String,
    call_id String,
    position UInt64,
    started_position UInt64,
    ended_position UInt64,
    deleted_position UInt64,
    parent_id String,
    started_at DateTime64(6, 'UTC'),
    ended_at DateTime64(6, 'UTC'),
    source Enum8('' = 0, 'js-sdk' = 1, 'python-sdk' = 2, 'gateway' = 3),
    status_total Nullable(Int64),
    models Array(LowCardinality(String)),
    figures Array(Int64),
    -- What totals are grouped by. The status is that of the end.
    op LowCardinality(String),
    wb_user_id LowCardinality(String),
    thread_id String,
    wb_run_id String,
    status LowCardinality(String),
    INDEX by_position position TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, trace_id, call_id, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

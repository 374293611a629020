-- One wide row a call, for reads and filters. Start, end, rename and deletion each set their own columns; the engine
-- keeps the last value of each column that is not null. Log positions are part of the row, so that reads as of a
-- position can leave out what came later. `start_bytes` and `end_bytes` are those of the payload's JSON.
CREATE TABLE calls
(
    project_id String,
    id String,
    op_name Nullable(String),
    op Nullable(String)
        MATERIALIZED ifNull(nullIf(extract(op_name, '^[a-z-]+:///[^/]+/[^/]+/op/([^:]+):'), ''), op_name),
    display_name Nullable(String),
    names SimpleAggregateFunction(groupUniqArrayArray, Array(Tuple(UInt64, String))),
    trace_id Nullable(String),
    parent_id Nullable(String),
    thread_id Nullable(String),
    turn_id Nullable(String),
    started_at Nullable(DateTime64(6, 'UTC')),
    ended_at Nullable(DateTime64(6, 'UTC')),
    exception Nullable(String),
    attributes Nullable(String),
    inputs Nullable(String),
    output Nullable(String),
    summary Nullable(String),
    otel_dump Nullable(String),
    input_refs Nullable(String),
    output_refs Nullable(String),
    wb_user_id Nullable(String),
    wb_run_id Nullable(String),
    wb_run_step Nullable(Int64),
    wb_run_step_end Nullable(Int64),
    start_bytes Nullable(UInt64) MATERIALIZED length(inputs) + ifNull(length(attributes), 0) + ifNull(length(otel_dump), 0),
    end_bytes Nullable(UInt64) MATERIALIZED length(output) + ifNull(length(summary), 0) + ifNull(length(exception), 0),
    start_is_wide Nullable(UInt8)
        MATERIALIZED match(inputs, '[0-9]{20}|-[0-9]{19}') OR match(attributes, '[0-9]{20}|-[0-9]{19}')
            OR ifNull(match(otel_dump, '[0-9]{20}|-[0-9]{19}'), 0),
    end_is_wide Nullable(UInt8)
        MATERIALIZED match(output, '[0-9]{20}|-[0-9]{19}') OR match(summary, '[0-9]{20}|-[0-9]{19}'),
    started_position Nullable(UInt64),
    ended_position Nullable(UInt64),
    deleted_position Nullable(UInt64),
    INDEX by_trace trace_id TYPE bloom_filter GRANULARITY 1,
    INDEX by_parent parent_id TYPE bloom_filter GRANULARITY 1,
    INDEX by_op op_name TYPE bloom_filter GRANULARITY 1,
    INDEX by_op_of_any_version op TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = CoalescingMergeTree
ORDER BY (project_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

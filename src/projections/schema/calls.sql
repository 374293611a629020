-- Calls in the order of their starts. Start, end, rename and deletion each insert a row with the same key, and the engine
-- keeps the last value of each column that is not null. Log positions are part of the row, so that reads as of a position
-- can leave out what came later. Their codec, and that of the project, make counting cheap. Granules are small, because
-- most reads are of few calls.
CREATE TABLE calls
(
    project_id LowCardinality(String),
    started_at DateTime64(6, 'UTC') CODEC(Delta, LZ4),
    id String,
    op_name LowCardinality(Nullable(String)),
    op LowCardinality(Nullable(String)),
    display_name Nullable(String),
    names SimpleAggregateFunction(groupUniqArrayArray, Array(Tuple(UInt64, String))),
    trace_id Nullable(String),
    parent_id Nullable(String),
    thread_id Nullable(String),
    turn_id Nullable(String),
    ended_at Nullable(DateTime64(6, 'UTC')),
    end_status LowCardinality(Nullable(String)),
    exception Nullable(String),
    attributes Nullable(String),
    inputs Nullable(String),
    output Nullable(String),
    summary Nullable(String),
    otel_dump Nullable(String),
    input_refs Nullable(String),
    output_refs Nullable(String),
    wb_user_id LowCardinality(Nullable(String)),
    wb_run_id Nullable(String),
    wb_run_step Nullable(Int64),
    wb_run_step_end Nullable(Int64),
    -- Bytes of the payload's JSON.
    start_bytes Nullable(UInt64) MATERIALIZED length(inputs) + ifNull(length(attributes), 0) + ifNull(length(otel_dump), 0),
    end_bytes Nullable(UInt64) MATERIALIZED length(output) + ifNull(length(summary), 0) + ifNull(length(exception), 0),
    -- Whether the payload may hold integers of more than 64 bits, which the faster JSON parser refuses.
    start_is_wide Nullable(UInt8)
        MATERIALIZED match(inputs, '[0-9]{20}|-[0-9]{19}') OR match(attributes, '[0-9]{20}|-[0-9]{19}')
            OR ifNull(match(otel_dump, '[0-9]{20}|-[0-9]{19}'), 0),
    end_is_wide Nullable(UInt8)
        MATERIALIZED match(output, '[0-9]{20}|-[0-9]{19}') OR match(summary, '[0-9]{20}|-[0-9]{19}'),
    started_position Nullable(UInt64) CODEC(Delta, LZ4),
    ended_position Nullable(UInt64) CODEC(Delta, LZ4),
    -- The first, if a call below a deleted one is deleted itself.
    deleted_position SimpleAggregateFunction(min, Nullable(UInt64)) CODEC(Delta, LZ4),
    INDEX by_parent parent_id TYPE bloom_filter GRANULARITY 1,
    INDEX by_deletion deleted_position TYPE minmax GRANULARITY 1
)
ENGINE = CoalescingMergeTree
ORDER BY (project_id, started_at, id)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1;

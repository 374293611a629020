-- What rows of tables hold, by digest. The same content has the same digest, wherever it stands: the first position
-- stays. Pages of a table are rows that lie anywhere, so granules are small.
CREATE TABLE table_rows
(
    project_id String,
    digest String,
    val SimpleAggregateFunction(any, String),
    bytes SimpleAggregateFunction(any, UInt64) MATERIALIZED length(val),
    position SimpleAggregateFunction(min, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY (project_id, digest)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1;

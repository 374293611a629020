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

-- Which rows a table has: a stretch of some thousand row digests is one row here, `first_index` that of its first.
CREATE TABLE table_entries
(
    project_id String,
    table_digest String,
    first_index UInt32,
    row_digests Array(String),
    position UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, table_digest, first_index)
SETTINGS index_granularity = 16, fsync_after_insert = 1, fsync_part_directory = 1;

-- That a table is there, written after its entries.
CREATE TABLE tables
(
    project_id String,
    digest String,
    row_count SimpleAggregateFunction(any, UInt64),
    position SimpleAggregateFunction(min, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY (project_id, digest)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

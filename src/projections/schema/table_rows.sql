-- The contents of table rows by digest. Equal rows of several tables are one row, with the position of the first. The
-- rows of a table are not next to each other, so granules are small.
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

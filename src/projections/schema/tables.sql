-- Published tables; a row is inserted after the entries.
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

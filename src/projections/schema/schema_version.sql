-- The version of the tables, and a digest of their statements.
CREATE TABLE schema_version
(
    version UInt64,
    digest String,
    created_at DateTime64(6, 'UTC') DEFAULT now64(6)
)
ENGINE = ReplacingMergeTree(created_at)
ORDER BY tuple()
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

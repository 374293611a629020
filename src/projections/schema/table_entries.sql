-- The rows of a table, in order: some thousand digests a row, `first_index` is the index of the first.
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

-- The sizes of files; their contents are in the blob store.
CREATE TABLE files
(
    project_id String,
    digest String,
    bytes Int64,
    position UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, digest)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Projects that a client registered by name.
CREATE TABLE projects
(
    project_id String,
    created_at DateTime64(6, 'UTC'),
    position UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

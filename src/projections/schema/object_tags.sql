-- Tags of versions as they were put on and taken off.
CREATE TABLE object_tags
(
    project_id String,
    object_id String,
    version_index UInt64,
    tag String,
    position UInt64,
    is_on Bool
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, object_id, version_index, tag, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Aliases of objects as they were pointed at versions, or, where `is_set` is false, at none.
CREATE TABLE object_aliases
(
    project_id String,
    object_id String,
    alias String,
    position UInt64,
    version_index UInt64,
    is_set Bool
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, object_id, alias, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
